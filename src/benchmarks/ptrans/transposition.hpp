#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "benchmarks/ptrans/plan.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::ptrans {

/// A buffer's bytes: OpenCL has no empty buffers, and a rank may have no block.
inline std::size_t not_empty(std::size_t bytes) { return std::max<std::size_t>(bytes, 1); }

/// How kernels are started on blocks.
struct WorkItems {
  std::size_t of_block = 0;  ///< 0: one work-item for all that is to do
  std::size_t of_group = 1;
  std::size_t blocks_each = 1;  ///< that the work-items of a block do one after the other
};

/// B and C on the device, and the kernels that make C from B and blocks of A. Where the host spreads B and C
/// over memory banks (matrix_banks), block i lies in part i mod parts, which has replications of its own.
class Transposition {
 public:
  /// Kernels in as many slots.
  Transposition(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                const WorkItems& work_items, std::size_t slots);

  /// Starts the tasks from `first` on, with the blocks of A in `source`, and returns at once. `operation`
  /// names them in the timeline; those of the same slot run one after the other.
  void start(const std::string& operation, std::size_t slot, const device::Buffer& source, std::size_t first,
             std::size_t count);
  /// From here on `start_pull` starts these tasks, of whose blocks of A some are in another rank's memory, as
  /// kTheirs says. Of kernels of the variant throughput, with B and C in one part.
  void set_pulls(const runtime::Context& context, const std::vector<Task>& tasks);
  void start_pull(const std::string& operation, std::size_t slot, const device::Buffer& source,
                  const device::Buffer& theirs, std::size_t first, std::size_t count);
  /// Waits for all of a slot.
  void finish(std::size_t slot) {
    kernels_[slot].finish();
    if (slot < pulls_.size()) pulls_[slot].finish();
  }

  /// Copies of all blocks, in the order of the plan.
  void write_b(const void* blocks) { write(b_, blocks); }
  void write_c(const void* blocks) { write(c_, blocks); }
  void read_c(void* blocks);

 private:
  /// Tasks that are started together, in the order of the parts: the first of each part, and the end.
  using Group = std::vector<std::size_t>;

  /// The tasks of the plan, sorted by parts, with numbers of blocks in these.
  std::vector<Task> sorted(const Plan& plan);
  void start_group(const std::string& operation, std::size_t slot, const device::Buffer& source,
                   const Group& group);
  void write(std::vector<device::Buffer>& parts, const void* blocks);
  /// Calls `copy` with each part that holds a piece of all blocks: its first byte, its bytes, and where it
  /// lies in the part.
  template <typename Copy>
  void each_piece(Copy copy) const;
  /// In how many the blocks of B and of C lie.
  [[nodiscard]] std::size_t parts() const { return b_.size(); }
  [[nodiscard]] const device::Queue& queue() const { return kernels_.front().queue(0); }
  [[nodiscard]] device::Geometry geometry(std::size_t tasks) const;

  WorkItems work_items_;
  std::size_t block_bytes_;
  std::size_t blocks_;                         ///< of B and C
  std::vector<Group> groups_;                  ///< where there are several parts
  std::vector<device::Replications> kernels_;  // [slot]
  std::vector<device::Buffer> b_, c_;          // [part]
  std::vector<device::Replications> pulls_;    // [slot]; empty: there are none
  device::Buffer tasks_;
  std::optional<device::Buffer> pull_tasks_;
};

}  // namespace fabricmark::ptrans
