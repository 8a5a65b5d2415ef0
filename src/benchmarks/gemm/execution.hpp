#pragma once

#include <memory>
#include <vector>

#include "base/interface.hpp"
#include "benchmarks/common/parts.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::gemm {

/// Bytes of the elements: of A and B, and of C and the arithmetic.
struct ElementBytes {
  std::size_t input = 0;
  std::size_t value = 0;
};

/// The matrices as a kernel needs them, padded: A is rows x depth, B depth x columns, C rows x columns.
struct Shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
  std::size_t row_block = 1;  ///< replications divide the rows in multiples of this
  [[nodiscard]] std::size_t a_elements() const { return rows * depth; }
  [[nodiscard]] std::size_t b_elements() const { return depth * columns; }
  [[nodiscard]] std::size_t c_elements() const { return rows * columns; }
};

/// The matrices on the device, divided by rows of C over the replications, and the kernels that work on them.
/// B is whole: replications share it, or some share a copy in a memory bank of its own (b_copies). What
/// differs between kinds of kernel is how they are started.
class Execution : public Interface {
 public:
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// result = alpha A B + beta C, once.
  virtual void run() = 0;
  /// Overwrites the result, and all else that a kernel may have left for its next start, with NaN.
  virtual void poison();
  /// Copies between the device and host arrays of the padded shape.
  void write_inputs(const void* a, const void* b, const void* c);
  void write_result(const void* result);
  void read_result(void* result);

 protected:
  Execution(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes);

  /// Rows of the replications that have any.
  [[nodiscard]] const std::vector<common::Part>& parts() const { return parts_; }
  [[nodiscard]] device::Replications& kernels() { return kernels_; }
  [[nodiscard]] const device::Buffer& a(std::size_t part) const { return a_[part]; }
  [[nodiscard]] const device::Buffer& b(std::size_t part) const { return b_[part % b_.size()]; }
  /// Sets the arguments that all kinds of kernel share: a, b, c, result, alpha, beta.
  void set_arguments(std::size_t part, const device::Buffer& a, const device::Buffer& b);
  /// Starts `kernels` with a geometry for each part.
  static void start(device::Replications& kernels, const std::vector<device::Geometry>& geometries);

 private:
  Shape shape_;
  ElementBytes bytes_;
  double alpha_;
  double beta_;
  std::vector<common::Part> parts_;
  device::Replications kernels_;
  std::vector<device::Buffer> b_;               // [copy]
  std::vector<device::Buffer> a_, c_, result_;  // [part]
};

/// Throws Error (bad use) where there is not the memory for matrices of this shape.
void require_memory(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes);

/// The executions of the variants, in files of their names. Throw Error (bad use) for parameters that the
/// device cannot run.
using MakeExecution = std::unique_ptr<Execution> (*)(const runtime::Context& context,
                                                     const ElementBytes& bytes);
std::unique_ptr<Execution> make_base(const runtime::Context& context, const ElementBytes& bytes);
std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const ElementBytes& bytes);

}  // namespace fabricmark::gemm
