#pragma once

#include <span>
#include <vector>

#include "benchmarks/random_access/scope.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::random_access {

/// The share of wrong items that the rules accept (Meyer 2024, section 3.1.3).
inline constexpr double kAcceptedShare = 0.01;

/// Applies every update of the scope to `items`, the rank's part, on up to `threads` threads; twice is as if
/// never.
void apply_updates(const Scope& scope, std::span<std::uint64_t> items, int threads = 1);

/// An item that is not what it should be, and the difference: actual exclusive-or expected.
struct WrongItem {
  std::uint64_t item;
  std::uint64_t difference;
};

/// Those of `wrong` whose difference is no exclusive-or of some of their own updates, so that more has
/// happened to them than that updates were lost.
std::vector<WrongItem> not_explained_by_lost_updates(const Scope& scope, const std::vector<WrongItem>& wrong);

/// Compares the rank's items with what they should be. All must be right or, with `may_lose_updates`, all but
/// the accepted share; and these may lack updates but not be wrong in another way. Every wrong item is looked
/// at, unless they are more than that share.
std::vector<runtime::Verdict> check(const Scope& scope, std::span<const std::uint64_t> actual,
                                    std::span<const std::uint64_t> expected, bool may_lose_updates);

}  // namespace fabricmark::random_access
