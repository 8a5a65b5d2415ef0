#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/host_transfer/marks.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::host_transfer {

/// What the start of a kernel costs that increments one word: with a wait after each, and many in a row.
class Launches {
 public:
  static constexpr std::size_t kInARow = 16;

  Launches(const runtime::Context& context, const device::Placement& place);
  /// Both orders. With `lose_one` the last start is left out.
  void run(runtime::TimedRegions& regions, bool lose_one);
  /// How many starts the word of the device counts too few or too many since the last run began.
  std::size_t count_wrong();
  /// Number of starts in one run.
  static constexpr std::size_t count() { return 2 * kInARow; }
  [[nodiscard]] static std::vector<runtime::Metric> metrics();

 private:
  void start();
  std::uint32_t counted();

  device::Replications kernel_;
  device::Buffer word_;
  device::Queue queue_;
  std::uint32_t before_ = 0;
};

}  // namespace fabricmark::host_transfer
