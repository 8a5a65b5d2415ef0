#pragma once

#include <span>
#include <vector>

#include "benchmarks/random_access/scope.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::random_access {

/// The share of wrong items that the rules accept (Meyer 2024, section 3.1.3); here no more than lost updates
/// explain (`most_lost`).
inline constexpr double kAcceptedShare = 0.01;

/// How a kernel may lose updates: of two of the same item that are in progress at the same time the later one
/// may write what it read before the earlier one had written.
struct Losses {
  std::size_t window = 1;   ///< updates in a row that are read before any of them is written
  std::size_t at_once = 1;  ///< work-items that read and write by themselves
  std::size_t stores =
      0;  ///< of all cores of a CPU that run them: made, and not yet to be seen by the others
  int log_replications = 0;  ///< of the part, each with a part of its items and its own updates in progress
  [[nodiscard]] bool are_possible() const { return window > 1 || at_once > 1; }
};

/// How many items may lack updates at most. Of a `window` from the sequence itself, whose early numbers meet
/// much more often than random ones would: those that two updates of a window name, in the sequence's order,
/// and half as many again, as several generators have another order (a third less to all of them were seen).
/// Of w work-items and n items, as two meet at each of 4 n updates with probability w / n: 4 w, and four
/// times as many for what the sequence makes of it. Of s stores on their way, as an update meets one of them
/// where it names the same item: s times the sum over all items of (updates of it)^2 / (all updates), of
/// which up to a half was seen on two cores of an AMD EPYC. A few more, as few numbers vary; zero where none
/// can be lost; no more than the accepted share.
std::size_t most_lost(const Scope& scope, const Losses& losses);

/// Applies every update of the scope to `items`, the rank's part, on up to `threads` threads; twice is as if
/// never.
void apply_updates(const Scope& scope, std::span<std::uint64_t> items, int threads = 1);

/// An item that is not what it should be, and the difference: actual exclusive-or expected.
struct WrongItem {
  std::uint64_t item;
  std::uint64_t difference;
};

/// Those of `wrong` to which more has happened than that updates were lost: whose difference is no
/// exclusive-or of some of their own updates, or only of all of them. For what loses an update is another one
/// of the same item, and the last of them is there.
std::vector<WrongItem> not_explained_by_lost_updates(const Scope& scope, const std::vector<WrongItem>& wrong);

/// Compares the rank's items with what they should be. All must be right but those that `losses` explain; and
/// these may lack updates but not be wrong in another way, and lie all over the table. Every wrong item is
/// looked at, unless they are more than the accepted share.
std::vector<runtime::Verdict> check(const Scope& scope, std::span<const std::uint64_t> actual,
                                    std::span<const std::uint64_t> expected, const Losses& losses);

}  // namespace fabricmark::random_access
