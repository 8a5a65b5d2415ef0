#include "benchmarks/random_access/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/parallel.hpp"

namespace fabricmark::random_access {

namespace {

/// The numbers that are an exclusive-or of some of those added: a vector space over the bits.
class Span {
 public:
  void add(std::uint64_t number) {
    sum_ ^= number;
    number = reduce(number);
    if (number != 0) {
      basis_.push_back(number);
    } else {
      is_independent_ = false;
    }
  }
  [[nodiscard]] bool contains(std::uint64_t number) const { return reduce(number) == 0; }
  /// Whether it is an exclusive-or of all that were added and of no fewer.
  [[nodiscard]] bool needs_all(std::uint64_t number) const { return is_independent_ && number == sum_; }

 private:
  /// Clears the highest bit of every member of the basis; each of these bits is in no later member.
  [[nodiscard]] std::uint64_t reduce(std::uint64_t number) const {
    for (const std::uint64_t member : basis_) {
      if ((number & std::bit_floor(member)) != 0) number ^= member;
    }
    return number;
  }
  std::vector<std::uint64_t> basis_;
  std::uint64_t sum_ = 0;
  bool is_independent_ = true;
};

/// Counts items that two updates of a window name.
class MetItems {
 public:
  MetItems(std::size_t items, std::size_t window) : window_(window), last_(items), has_met_(items) {}
  void add(std::uint64_t item) {
    const std::uint64_t now = ++time_;
    const std::uint64_t last = std::exchange(last_[item], now);
    if (last == 0 || now - last >= window_ || has_met_[item]) return;
    has_met_[item] = true;
    ++count_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t window_;
  std::vector<std::uint64_t> last_;  // update of each, counted from 1
  std::vector<bool> has_met_;
  std::uint64_t time_ = 0;
  std::size_t count_ = 0;
};

/// Calls `use` with the updates of a part in the order of the sequence.
template <typename Use>
void for_updates_in_order(const Scope& scope, Use&& use) {
  if (scope.log_part < scope.log_table) {
    for_own_updates(scope, [&](std::span<const std::uint64_t> some) { std::ranges::for_each(some, use); });
    return;
  }
  std::uint64_t number = number_at(scope.first_number);
  for (std::uint64_t k = 0; k < scope.updates(); ++k, number = next_number(number)) use(number);
}

/// How often updates name the same items: stretches of the sequence begin with numbers of few bits, which are
/// items at the beginning of the table, again and again.
class Repeats {
 public:
  explicit Repeats(const Scope& scope) : updates_of_(scope.part_items()) {
    const std::uint64_t mask = scope.part_items() - 1;
    for_each_update(scope, [&](std::span<const std::uint64_t> some) {
      for (const std::uint64_t update : some) {
        std::uint16_t& count = updates_of_[update & mask];
        if (count < std::numeric_limits<std::uint16_t>::max()) ++count;
      }
    });
    of_all_ = sums({updates_of_.data(), updates_of_.size()});
  }
  /// Of an update: all updates of its item, on average.
  [[nodiscard]] double mean() const { return of_all_.squares / of_all_.updates; }
  /// The share of the updates, or of those that meet another, that the items of a piece have; the larger one.
  [[nodiscard]] double share(std::size_t piece, std::size_t items) const {
    const Sums own = sums({updates_of_.data() + piece * items, items});
    return std::max(own.updates / of_all_.updates, own.squares / of_all_.squares);
  }

 private:
  struct Sums {
    double updates = 0;
    double squares = 0;
  };
  static Sums sums(std::span<const std::uint16_t> counts) {
    Sums found;
    for (const double count : counts) {
      found.updates += count;
      found.squares += count * count;
    }
    return found;
  }
  std::vector<std::uint16_t> updates_of_;  // [item]
  Sums of_all_;
};

/// Where wrong items lie: how many are in the fullest of up to 64 equal pieces of the table, in those that it
/// would have as losses follow the sequence. Few may lie anywhere.
runtime::Verdict spread(std::span<const std::size_t> wrong_in_piece, std::size_t checked,
                        const Repeats* repeats) {
  constexpr double kFew = 16;
  runtime::Verdict verdict{.name = "spread", .threshold = 8, .checked = checked};
  verdict.measure = "wrong items in the fullest piece of the table, of those that it would have";
  if (repeats == nullptr) return verdict;
  double wrong = 0;
  for (const std::size_t count : wrong_in_piece) wrong += static_cast<double>(count);
  for (std::size_t piece = 0; piece < wrong_in_piece.size(); ++piece) {
    const auto own = static_cast<double>(wrong_in_piece[piece]);
    if (own <= kFew) continue;
    const double usual = wrong * repeats->share(piece, checked / wrong_in_piece.size());
    const double error = (own - kFew) / usual;
    if (error <= verdict.error) continue;
    verdict.error = error;
    verdict.worst = {fmt::format("piece {} of {}", piece, wrong_in_piece.size()), usual, own};
  }
  return verdict;
}

runtime::WorstPlace place_of(const WrongItem& wrong, std::span<const std::uint64_t> actual) {
  const std::uint64_t is = actual[wrong.item];
  return {"table[" + std::to_string(wrong.item) + "]", static_cast<double>(is ^ wrong.difference),
          static_cast<double>(is)};
}

}  // namespace

// Part by part: of the default table each fits the last-level cache, and needs few pages.
void apply_updates(const Scope& scope, std::span<std::uint64_t> items, int threads) {
  constexpr int kLogParts = 4;
  constexpr int kLogWorthDividing = 18;
  const int log_parts = scope.log_part < kLogWorthDividing ? 0 : kLogParts;
  const auto apply = [&](std::size_t start, std::size_t end) {
    for (std::size_t i = start; i < end; ++i) {
      Scope part = scope;
      part.log_part -= log_parts;
      part.part = (scope.part << log_parts) + i;
      const std::span<std::uint64_t> own = items.subspan(i << part.log_part, part.part_items());
      const std::uint64_t mask = own.size() - 1;
      for_each_update(part, [&](std::span<const std::uint64_t> updates) {
        for (const std::uint64_t update : updates) __builtin_prefetch(&own[update & mask], 1);
        for (const std::uint64_t update : updates) own[update & mask] ^= update;
      });
    }
  };
  parallel_for(std::size_t{1} << log_parts, threads, 1, apply);
}

std::vector<WrongItem> not_explained_by_lost_updates(const Scope& scope,
                                                     const std::vector<WrongItem>& wrong) {
  if (wrong.empty()) return {};
  std::vector<bool> is_wrong(scope.part_items());
  for (const WrongItem& item : wrong) is_wrong[item.item] = true;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> updates;  // item, update
  const std::uint64_t mask = scope.part_items() - 1;
  for_each_update(scope, [&](std::span<const std::uint64_t> some) {
    for (const std::uint64_t update : some) {
      if (is_wrong[update & mask]) updates.emplace_back(update & mask, update);
    }
  });
  std::ranges::sort(updates);
  std::vector<WrongItem> others;
  for (const WrongItem& item : wrong) {
    Span own;
    auto update = std::ranges::lower_bound(updates, std::pair{item.item, std::uint64_t{0}});
    for (; update != updates.end() && update->first == item.item; ++update) own.add(update->second);
    if (!own.contains(item.difference) || own.needs_all(item.difference)) others.push_back(item);
  }
  return others;
}

namespace {

std::size_t most_lost(const Scope& scope, const Losses& losses, const Repeats* repeats) {
  if (!losses.are_possible()) return 0;
  std::size_t lost = losses.at_once > 1 ? 16 * losses.at_once : 0;
  if (repeats != nullptr)
    lost = std::max(lost, static_cast<std::size_t>(static_cast<double>(losses.stores) * repeats->mean()));
  if (losses.window > 1) {
    const int log_own = scope.log_part - losses.log_replications;
    const std::uint64_t mask = (std::uint64_t{1} << log_own) - 1;
    std::vector<MetItems> replications(std::size_t{1} << losses.log_replications,
                                       MetItems(mask + 1, losses.window));
    for_updates_in_order(scope, [&](std::uint64_t update) {
      replications[(update & (scope.part_items() - 1)) >> log_own].add(update & mask);
    });
    for (const MetItems& one : replications) lost += one.count() + one.count() / 2;
  }
  constexpr std::size_t kFew = 16;
  const auto accepted = static_cast<std::size_t>(kAcceptedShare * static_cast<double>(scope.part_items()));
  return std::min(lost + kFew, accepted);
}

}  // namespace

std::size_t most_lost(const Scope& scope, const Losses& losses) {
  const std::optional<Repeats> repeats = losses.stores > 0 ? std::optional<Repeats>(scope) : std::nullopt;
  return most_lost(scope, losses, repeats ? &*repeats : nullptr);
}

std::vector<runtime::Verdict> check(const Scope& scope, std::span<const std::uint64_t> actual,
                                    std::span<const std::uint64_t> expected, const Losses& losses) {
  // More than the accepted share fail as they are: whatever they hold, the table is wrong.
  const std::size_t most_examined = std::max<std::size_t>(
      4096, static_cast<std::size_t>(kAcceptedShare * static_cast<double>(actual.size())) + 1);
  std::vector<WrongItem> examined;
  std::size_t wrong = 0;
  std::vector<std::size_t> wrong_in_piece(std::min<std::size_t>(64, actual.size()));
  const std::size_t piece = actual.size() / wrong_in_piece.size();
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    ++wrong;
    ++wrong_in_piece[i / piece];
    if (examined.size() < most_examined) examined.push_back({i, actual[i] ^ expected[i]});
  }
  const std::vector<WrongItem> others = not_explained_by_lost_updates(scope, examined);
  runtime::Verdict share{.name = "table", .measure = "share of wrong items", .checked = actual.size()};
  // Where nothing is wrong, nobody asks how much might be.
  const std::optional<Repeats> repeats = wrong == 0 ? std::nullopt : std::optional<Repeats>(scope);
  const Repeats* const known = repeats ? &*repeats : nullptr;
  const std::size_t most = wrong == 0 ? 0 : most_lost(scope, losses, known);
  share.threshold = static_cast<double>(most) / static_cast<double>(actual.size());
  share.error = static_cast<double>(wrong) / static_cast<double>(actual.size());
  if (!examined.empty()) share.worst = place_of(examined.front(), actual);
  runtime::Verdict whole{.name = "whole updates", .checked = actual.size()};
  whole.measure = "items wrong by more than lost updates";
  whole.error = static_cast<double>(others.size());
  if (!others.empty()) whole.worst = place_of(others.front(), actual);
  return {share, whole, spread(wrong_in_piece, actual.size(), known)};
}

}  // namespace fabricmark::random_access
