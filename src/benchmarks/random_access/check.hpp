#pragma once

#include <span>
#include <vector>

#include "benchmarks/random_access/scope.hpp"
#include "harness/benchmark.hpp"

namespace fabricmark::random_access {

/// The share of wrong items that the rules accept (dissertation 000, section 3.1.3).
inline constexpr double kAcceptedShare = 0.01;

/// Applies every update of the scope to `items`, the rank's part; twice is as if never.
void apply_updates(const Scope& scope, std::span<std::uint64_t> items);

/// How many of `wrong` items are off by something else than lost updates: the difference `error` (actual
/// exclusive-or expected) of item `item` is no exclusive-or of some of its own updates.
struct WrongItem {
  std::uint64_t item;
  std::uint64_t error;
};
std::vector<WrongItem> not_lost_updates(const Scope& scope, const std::vector<WrongItem>& wrong);

/// Items that lose an update where each of `parts` parts reads `block` items before it writes them back: two
/// of a block name the same of m items with probability 1 / m, and 4 m / block blocks have block (block - 1)
/// / 2 pairs. The most that are accepted lies eight standard deviations above.
double expected_losses(double block, double parts);
double accepted_losses(double block, double parts);

/// Compares the rank's items with what they should be. `accepted_losses` of them may lack updates; none may
/// be wrong in another way.
std::vector<harness::Verdict> check(const Scope& scope, std::span<const std::uint64_t> actual,
                                    std::span<const std::uint64_t> expected, double accepted_losses);

}  // namespace fabricmark::random_access
