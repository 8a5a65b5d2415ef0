#include "benchmarks/random_access/check.hpp"

#include <algorithm>
#include <bit>

#include "base/parallel.hpp"

namespace fabricmark::random_access {

namespace {

/// The numbers that are an exclusive-or of some of those added: a vector space over the bits.
class Span {
 public:
  void add(std::uint64_t number) {
    number = reduce(number);
    if (number != 0) basis_.push_back(number);
  }
  [[nodiscard]] bool contains(std::uint64_t number) const { return reduce(number) == 0; }

 private:
  /// Clears the highest bit of every member of the basis; each of these bits is in no later member.
  [[nodiscard]] std::uint64_t reduce(std::uint64_t number) const {
    for (const std::uint64_t member : basis_) {
      if ((number & std::bit_floor(member)) != 0) number ^= member;
    }
    return number;
  }
  std::vector<std::uint64_t> basis_;
};

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
    if (!own.contains(item.difference)) others.push_back(item);
  }
  return others;
}

std::vector<runtime::Verdict> check(const Scope& scope, std::span<const std::uint64_t> actual,
                                    std::span<const std::uint64_t> expected, bool may_lose_updates) {
  // More than the accepted share fail as they are: whatever they hold, the table is wrong.
  const std::size_t most_examined = std::max<std::size_t>(
      4096, static_cast<std::size_t>(kAcceptedShare * static_cast<double>(actual.size())) + 1);
  std::vector<WrongItem> examined;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    ++wrong;
    if (examined.size() < most_examined) examined.push_back({i, actual[i] ^ expected[i]});
  }
  const std::vector<WrongItem> others = not_explained_by_lost_updates(scope, examined);
  runtime::Verdict share{.name = "table", .measure = "share of wrong items", .checked = actual.size()};
  share.threshold = may_lose_updates ? kAcceptedShare : 0;
  share.error = static_cast<double>(wrong) / static_cast<double>(actual.size());
  if (!examined.empty()) share.worst = place_of(examined.front(), actual);
  runtime::Verdict whole{.name = "whole updates", .checked = actual.size()};
  whole.measure = "items wrong by more than lost updates";
  whole.error = static_cast<double>(others.size());
  if (!others.empty()) whole.worst = place_of(others.front(), actual);
  return {share, whole};
}

}  // namespace fabricmark::random_access
