#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "benchmarks/common/parts.hpp"
#include "benchmarks/stream/problem.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::stream {

using common::divide;
using common::Part;

/// result = scalar * first (+ second): what the four operations have in common.
struct Operation {
  const char* name;
  double scalar;
  Array first;
  Array second;
  Array result;
  bool uses_second;
  [[nodiscard]] int streams() const { return uses_second ? 3 : 2; }
};

/// STREAM's loop, entered at add: so it begins with two inputs that have nothing to do with each other, and
/// triad still has one of them. From copy on all would be multiples of a.
inline constexpr std::array<Operation, 4> kOperations{{
    {"add", 1, kA, kB, kC, true},
    {"triad", kScalar, kC, kB, kA, true},
    {"copy", 1, kA, kA, kC, false},
    {"scale", kScalar, kC, kC, kB, false},
}};

/// The arrays on the device, one part for each replication, and the kernel that works on them. What differs
/// between kinds of kernel is how a part is cut into work.
class Execution : public Interface {
 public:
  void run(const Operation& operation);
  /// Copies `source`, of the padded length, into an array on the device; `read` is the way back. Elements of
  /// `element_bytes` bytes.
  void write(Array array, const void* source);
  void read(Array array, void* destination);
  /// Makes every element of an array on the device a NaN.
  void poison(Array array);
  [[nodiscard]] std::size_t padded_elements() const;

 protected:
  /// The arrays are padded to whole blocks of `block_elements`. Throws Error (bad use) where there is not
  /// the memory for them.
  Execution(const runtime::Context& context, std::size_t block_elements, std::size_t element_bytes);
  /// How a kernel is started on a part that is not empty, and how often it repeats its unit of work there.
  [[nodiscard]] virtual device::Geometry geometry(const Part& part) const = 0;
  [[nodiscard]] virtual std::uint32_t units(const Part& part) const = 0;

 private:
  std::size_t element_bytes_;
  std::vector<Part> parts_;
  device::Replications kernels_;
  std::vector<std::array<device::Buffer, kArrays>>
      buffers_;  // [replication], of the parts that are not empty
};

/// The executions of the variants, in files of their names.
using MakeExecution = std::unique_ptr<Execution> (*)(const runtime::Context& context,
                                                     std::size_t element_bytes);
std::unique_ptr<Execution> make_base(const runtime::Context& context, std::size_t element_bytes);
std::unique_ptr<Execution> make_throughput(const runtime::Context& context, std::size_t element_bytes);

}  // namespace fabricmark::stream
