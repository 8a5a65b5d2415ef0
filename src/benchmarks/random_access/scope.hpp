#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/random_access/sequence.hpp"

namespace fabricmark::random_access {

/// One table and its updates: what a rank has to itself (star) or shares with all (global). A number of the
/// sequence updates the item that its low `log_table` bits name; a part is the items of equal high bits.
struct Scope {
  int log_table = 0;               ///< of the whole table
  int log_part = 0;                ///< of this rank's part, which in star is the whole
  std::uint64_t part = 0;          ///< this rank's
  std::uint64_t first_number = 1;  ///< where in the sequence the updates begin

  [[nodiscard]] std::uint64_t part_items() const { return std::uint64_t{1} << log_part; }
  /// Four for each item of the whole table.
  [[nodiscard]] std::uint64_t updates() const { return std::uint64_t{4} << log_table; }
};

/// The scope of a rank whose own items are 2^log_size; with `is_global` the ranks are a power of two.
inline Scope make_scope(bool is_global, int log_size, int rank, int ranks) {
  const auto place = static_cast<std::uint64_t>(rank);
  if (!is_global) return {log_size, log_size, 0, 1 + place * (std::uint64_t{4} << log_size)};
  return {log_size + std::countr_zero(static_cast<unsigned>(ranks)), log_size, place, 1};
}

/// The first numbers of 2^log_stretches equal stretches of the scope's updates.
inline std::vector<std::uint64_t> stretch_starts(const Scope& scope, int log_stretches) {
  const std::uint64_t step = number_at(scope.updates() >> log_stretches);
  std::vector<std::uint64_t> starts{number_at(scope.first_number)};
  while (starts.size() < std::size_t{1} << log_stretches) starts.push_back(multiply(starts.back(), step));
  return starts;
}

/// Calls `use` with every update of the rank's part, in several calls with a span each and in no order.
template <typename Use>
void for_each_update(const Scope& scope, Use&& use) {
  constexpr int kLogStretches = 4;  // side by side, as one number takes as long as several
  constexpr std::size_t kStretches = std::size_t{1} << kLogStretches;
  constexpr std::size_t kMany = 512;
  const std::uint64_t table_mask = (std::uint64_t{1} << scope.log_table) - 1;
  std::vector<std::uint64_t> number = stretch_starts(scope, kLogStretches);
  std::vector<std::uint64_t> own(kMany + kStretches);
  std::size_t count = 0;
  for (std::uint64_t step = 0; step < scope.updates() >> kLogStretches; ++step) {
    for (std::size_t i = 0; i < kStretches; ++i) {
      own[count] = number[i];
      count += (number[i] & table_mask) >> scope.log_part == scope.part ? 1 : 0;
      number[i] = next_number(number[i]);
    }
    if (count < kMany) continue;
    use(std::span<const std::uint64_t>(own.data(), count));
    count = 0;
  }
  use(std::span<const std::uint64_t>(own.data(), count));
}

}  // namespace fabricmark::random_access
