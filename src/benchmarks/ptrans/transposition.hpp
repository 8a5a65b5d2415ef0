#pragma once

#include <algorithm>
#include <cstddef>

#include "benchmarks/ptrans/plan.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::ptrans {

/// A buffer's bytes: OpenCL has no empty buffers, and a rank may have no block.
inline std::size_t not_empty(std::size_t bytes) { return std::max<std::size_t>(bytes, 1); }

/// B and C on the device, and the kernels that make C from B and blocks of A.
class Transposition {
 public:
  /// Kernels in as many slots. Throws Error (bad use) for parameters that the device cannot run.
  Transposition(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                std::size_t slots);

  /// Starts the tasks from `first` on, with the blocks of A in `source`, and returns at once. `operation`
  /// names them in the timeline; those of the same slot run one after the other.
  void start(const std::string& operation, std::size_t slot, const device::Buffer& source, std::size_t first,
             std::size_t count);
  /// Waits for all of a slot.
  void finish(std::size_t slot) { kernels_[slot].finish(); }

  /// Copies of all blocks, in the order of the plan.
  void write_b(const void* blocks) { write(b_, blocks); }
  void write_c(const void* blocks) { write(c_, blocks); }
  void read_c(void* blocks);

 private:
  void write(device::Buffer& buffer, const void* blocks);
  [[nodiscard]] const cl::CommandQueue& queue() const { return kernels_.front().queue(0); }
  [[nodiscard]] device::Geometry geometry(std::size_t tasks) const;

  std::size_t bytes_;  ///< of B and C
  /// Work-items of a block and of a work-group; 0 of a block: one work-item for all that is to do.
  std::size_t block_items_ = 0;
  std::size_t group_items_ = 1;
  std::size_t blocks_per_item_ = 1;
  std::vector<device::Replications> kernels_;  // [slot]
  device::Buffer b_, c_, tasks_;
};

}  // namespace fabricmark::ptrans
