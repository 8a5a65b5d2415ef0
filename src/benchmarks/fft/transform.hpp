#pragma once

#include <memory>

#include "benchmarks/fft/vectors.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::fft {

/// Where the points of a rank lie on the device and how they are transformed there. What differs is the kind
/// of kernel, and whether the ranks share one vector.
class Transform {
 public:
  virtual ~Transform() = default;
  Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  /// Copies all points of this rank between host and device; waits.
  virtual void write_input(const void* points) = 0;
  virtual void write_output(const void* points) = 0;
  virtual void read_output(void* points) = 0;
  /// Output = transformed input; waits.
  virtual void run(Direction direction) = 0;
  /// Overwrites the output, and all else that a kernel may have left for its next start, with NaN; waits.
  virtual void poison() = 0;
};

/// Bytes on the device beside the input and output of a batch: all, and those of the largest buffer.
struct Scratch {
  double bytes = 0;
  double largest = 0;
};
Scratch batch_scratch(const runtime::Context& context, std::size_t complex_bytes, std::size_t batch);

/// `complex_bytes` a point.
std::unique_ptr<Transform> make_base(const runtime::Context& context, std::size_t complex_bytes);
std::unique_ptr<Transform> make_four_step(const runtime::Context& context, std::size_t complex_bytes);
std::unique_ptr<Transform> make_stages(const runtime::Context& context, std::size_t complex_bytes);
/// One vector over all ranks. Throws Error (bad use) where it cannot be divided.
std::unique_ptr<Transform> make_distributed(const runtime::Context& context, std::size_t complex_bytes);

/// Whether the throughput kernel takes the form of CPUs.
inline bool is_four_step(const runtime::Context& context) {
  return context.parameters().text("form") == "four-step";
}

/// Points of this rank.
std::size_t local_points(const runtime::Context& context);

}  // namespace fabricmark::fft
