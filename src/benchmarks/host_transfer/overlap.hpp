#pragma once

#include <array>
#include <vector>

#include "benchmarks/host_transfer/marks.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::host_transfer {

/// Write, execute and read over several pieces of data, one after the other or so that the steps of different
/// pieces overlap (Karl 2021, section I.5).
class Overlap {
 public:
  static constexpr std::size_t kPieces = 8;

  Overlap(const runtime::Context& context, WorkItems work_items, std::size_t piece_bytes,
          const device::Placement& place);
  void prepare(std::uint32_t value);
  /// With `lose_one` the last piece is not written.
  void run_serial(bool lose_one);
  void run_overlapped(bool lose_one);
  /// Number of words that are not their value plus one.
  [[nodiscard]] std::size_t count_wrong(std::uint32_t value) const;
  /// Number of words of all pieces.
  [[nodiscard]] std::size_t count() const { return target_.bytes() / sizeof(std::uint32_t); }

 private:
  void execute(std::size_t piece, const device::Events* after, device::Event* done);

  std::size_t bytes_;
  device::PinnedMemory source_;
  device::PinnedMemory target_;
  std::vector<device::Buffer> buffers_;
  device::Replications kernels_;  // one for each piece
  WorkItems work_items_;
  std::array<device::Queue, 3> queues_;  // writes, kernels, reads
};

}  // namespace fabricmark::host_transfer
