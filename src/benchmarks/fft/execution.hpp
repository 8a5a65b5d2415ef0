#pragma once

#include <memory>

#include "base/error.hpp"
#include "base/interface.hpp"
#include "benchmarks/fft/vectors.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::fft {

/// Where the points of a rank lie on the device and how they are transformed there. What differs is the kind
/// of kernel, and whether the ranks share one vector.
class Execution : public Interface {
 public:
  /// Copies all points of this rank between host and device; waits.
  virtual void write_input(const void* points) = 0;
  virtual void write_output(const void* points) = 0;
  virtual void read_output(void* points) = 0;
  /// Output = transformed input; waits.
  virtual void run(Direction direction) = 0;
  /// Overwrites the output, and all else that a kernel may have left for its next start, with NaN; waits.
  virtual void poison() = 0;
  /// Of one vector over all ranks: times one exchange of all with all by itself, with the output of the last
  /// run, which from then on is what went through it.
  virtual void time_exchange(runtime::TimedRegions& /*regions*/) {}
};

/// Points of one type.
struct PointType {
  std::size_t bytes = 0;
  /// What a rank needs on the host for a batch of so many transforms, or for its part of the one vector.
  double (*host_bytes)(const runtime::Context& context, std::size_t batch) = nullptr;
};

/// The executions of the variants, in files of their names. Throw Error (bad use) for what the device cannot
/// run, and where there is not the memory.
using MakeExecution = std::unique_ptr<Execution> (*)(const runtime::Context& context, const PointType& type);
std::unique_ptr<Execution> make_base(const runtime::Context& context, const PointType& type);
std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const PointType& type);
/// The exchanges of one vector over emulated boards.
std::unique_ptr<Execution> make_over_boards(const runtime::Context& context, const PointType& type);
/// Those that the throughput kernels are for: the form of CPUs, that of GPUs, and one vector over all ranks.
std::unique_ptr<Execution> make_four_step(const runtime::Context& context, const PointType& type);
std::unique_ptr<Execution> make_stages(const runtime::Context& context, const PointType& type);
std::unique_ptr<Execution> make_distributed(const runtime::Context& context, const PointType& type);

inline bool is_distributed(const runtime::Context& context) {
  return context.parameters().text("scope") == "distributed";
}
/// Whether the throughput kernel takes the form of CPUs.
inline bool is_four_step(const runtime::Context& context) {
  return context.parameters().text("form") == "four-step";
}
/// For executions that have no code for one vector over all ranks.
Error not_distributed();

/// Points of this rank.
std::size_t local_points(const runtime::Context& context);

}  // namespace fabricmark::fft
