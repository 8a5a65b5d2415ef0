#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

/// The scope of a rank whose own items are 2^log_size; with `is_global` the ranks are a power of two. The
/// first counted repetition (0) begins with number 1, and each other one where the one before it has ended.
inline Scope make_scope(bool is_global, int log_size, int rank, int ranks, int repetition = 0) {
  const auto place = static_cast<std::uint64_t>(rank);
  Scope scope{log_size, log_size, 0, 1};
  if (is_global) scope = {log_size + std::countr_zero(static_cast<unsigned>(ranks)), log_size, place, 1};
  const std::uint64_t by_all = is_global ? scope.updates() : static_cast<unsigned>(ranks) * scope.updates();
  // Warm-ups have negative numbers: the sequence is a circle.
  const std::uint64_t before =
      static_cast<std::uint64_t>(std::abs(repetition)) * (by_all % kPeriod) % kPeriod;
  scope.first_number += repetition < 0 ? kPeriod - before : before;
  if (!is_global) scope.first_number += place * scope.updates();
  return scope;
}

/// The first numbers of 2^log_stretches equal stretches of the scope's updates.
inline std::vector<std::uint64_t> stretch_starts(const Scope& scope, int log_stretches) {
  const std::uint64_t step = number_at(scope.updates() >> log_stretches);
  std::vector<std::uint64_t> starts{number_at(scope.first_number)};
  while (starts.size() < std::size_t{1} << log_stretches) starts.push_back(multiply(starts.back(), step));
  return starts;
}

/// Calls `use(updates)` with spans of many updates of a sequence in which all are wanted.
template <typename Use>
void for_all_updates(const Scope& scope, Use&& use) {
  constexpr int kLogStretches = 4;  // side by side, as one number takes as long as several
  constexpr std::size_t kStretches = std::size_t{1} << kLogStretches;
  constexpr std::size_t kSteps = 32;
  std::vector<std::uint64_t> number = stretch_starts(scope, kLogStretches);
  std::vector<std::uint64_t> some(kSteps * kStretches);
  const std::uint64_t steps = scope.updates() >> kLogStretches;
  for (std::uint64_t step = 0; step < steps;) {
    std::size_t count = 0;
    for (; count < some.size() && step < steps; ++step) {
      for (std::size_t i = 0; i < kStretches; ++i) {
        some[count++] = number[i];
        number[i] = next_number(number[i]);
      }
    }
    use(std::span<const std::uint64_t>(some.data(), count));
  }
}

/// The same where only those of a part of at least 4 items are wanted: the others are not even made.
template <typename Use>
void for_own_updates(const Scope& scope, Use&& use) {
  constexpr std::size_t kMany = 512;
  std::vector<std::uint64_t> own(kMany + kMostSteps);
  std::size_t count = 0;
  std::uint64_t number = number_at(scope.first_number);
  for (std::uint64_t left = scope.updates(); left > 0;) {
    const int steps = static_cast<int>(std::min<std::uint64_t>(left, kMostSteps));
    std::uint64_t wanted = own_steps(number, scope.log_part, scope.log_table, scope.part);
    wanted &= ~std::uint64_t{0} << (64 - steps);
    while (wanted != 0) {
      const int step = std::countl_zero(wanted);
      wanted ^= std::uint64_t{1} << (63 - step);
      own[count++] = later_number(number, step);
    }
    number = later_number(number, steps);
    left -= static_cast<std::uint64_t>(steps);
    if (count < kMany) continue;
    use(std::span<const std::uint64_t>(own.data(), count));
    count = 0;
  }
  use(std::span<const std::uint64_t>(own.data(), count));
}

/// Calls `use` with every update of the rank's part, in several calls with a span each and in no order.
template <typename Use>
void for_each_update(const Scope& scope, Use&& use) {
  if (scope.log_part == scope.log_table) {
    for_all_updates(scope, use);
  } else {
    for_own_updates(scope, use);
  }
}

}  // namespace fabricmark::random_access
