#include <map>
#include <random>

#include "benchmarks/random_access/check.hpp"
#include "support.hpp"

namespace fabricmark::random_access {

namespace {

using Numbers = std::vector<std::uint64_t>;

/// The updates of a scope's whole table, one after the other as HPCC writes them down.
Numbers plain_updates(const Scope& scope) {
  std::uint64_t number = 1;
  for (std::uint64_t k = 0; k < scope.first_number - 1; ++k) number = next_number(number);
  Numbers updates;
  for (std::uint64_t k = 0; k < scope.updates(); ++k) {
    number = (number << 1) ^ (static_cast<std::int64_t>(number) < 0 ? 7U : 0U);
    updates.push_back(number);
  }
  return updates;
}

Numbers sorted_updates(const Scope& scope) {
  Numbers updates;
  for_each_update(scope, [&](std::span<const std::uint64_t> some) {
    updates.insert(updates.end(), some.begin(), some.end());
  });
  std::sort(updates.begin(), updates.end());
  return updates;
}

TEST(Sequence, IsEnteredWhereSteppingArrives) {
  std::uint64_t number = 1;
  for (std::uint64_t k = 0; k < 5000; ++k, number = next_number(number)) ASSERT_EQ(number_at(k), number);
}

TEST(Sequence, IsAddedUpByMultiplying) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t left = random() >> 2;
    const std::uint64_t right = random() >> 2;
    ASSERT_EQ(multiply(number_at(left), number_at(right)), number_at(left + right));
  }
}

TEST(Sequence, HasThePeriodThatHpccGives) {
  EXPECT_EQ(number_at(kPeriod), 1U);
  EXPECT_EQ(number_at(kPeriod + 12345), number_at(12345));
}

TEST(Scope, StarGivesEveryRankTheNextUpdatesOfTheSequence) {
  for (int rank = 0; rank < 3; ++rank) {
    const Scope scope = make_scope(false, 5, rank, 3);
    Numbers plain = plain_updates(scope);
    EXPECT_EQ(plain.front(), number_at(1 + 128 * static_cast<std::uint64_t>(rank)));
    std::sort(plain.begin(), plain.end());
    EXPECT_EQ(sorted_updates(scope), plain);
  }
}

TEST(Scope, GlobalGivesEveryUpdateToOneRank) {
  for (const int ranks : {1, 2, 4, 8}) {
    std::map<std::uint64_t, Numbers> by_part;
    Scope scope = make_scope(true, 6, 0, ranks);
    for (const std::uint64_t update : plain_updates(scope)) {
      by_part[update % (64 * static_cast<std::uint64_t>(ranks)) / 64].push_back(update);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      scope = make_scope(true, 6, rank, ranks);
      EXPECT_EQ(scope.updates(), 256 * static_cast<std::uint64_t>(ranks));
      Numbers& own = by_part[static_cast<std::uint64_t>(rank)];
      std::sort(own.begin(), own.end());
      EXPECT_EQ(sorted_updates(scope), own) << rank << " of " << ranks;
    }
  }
}

TEST(Scope, GoesOnInTheNextRepetition) {
  for (const bool is_global : {false, true}) {
    Scope scope = make_scope(is_global, 5, 0, 2);
    const std::uint64_t by_all = 2 * 128;
    for (int repetition = 0; repetition < 3; ++repetition) {
      scope = make_scope(is_global, 5, 0, 2, repetition);
      EXPECT_EQ(scope.first_number, 1 + by_all * static_cast<unsigned>(repetition));
      scope = make_scope(is_global, 5, 1, 2, repetition);
      EXPECT_EQ(scope.first_number, 1 + by_all * static_cast<unsigned>(repetition) + (is_global ? 0 : 128));
    }
    EXPECT_EQ(number_at(make_scope(is_global, 5, 0, 2, -1).first_number + by_all), number_at(1));
  }
}

TEST(Scope, PartsHaveTheUpdatesThatSteppingGivesThem) {
  for (const int repetition : {-2, 0, 7}) {
    Scope scope = make_scope(false, 10, 0, 1, repetition);
    Numbers all = sorted_updates(scope);
    scope.log_part = 7;
    Numbers parts;
    for (scope.part = 0; scope.part < 8; ++scope.part) {
      for (const std::uint64_t update : sorted_updates(scope)) {
        ASSERT_EQ(update % 1024 / 128, scope.part);
        parts.push_back(update);
      }
    }
    std::sort(parts.begin(), parts.end());
    EXPECT_EQ(parts, all);
  }
}

TEST(Scope, IsCutIntoEqualStretches) {
  const Scope scope = make_scope(false, 6, 1, 2);
  const Numbers plain = plain_updates(scope);
  for (const int log_stretches : {0, 1, 5, 8}) {
    const Numbers starts = stretch_starts(scope, log_stretches);
    ASSERT_EQ(starts.size(), std::size_t{1} << log_stretches);
    for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_EQ(starts[i], plain[i * (256U >> log_stretches)]);
  }
}

/// A table after its updates, to be damaged.
class Check : public testing::Test {
 protected:
  Check() : expected_(scope_.part_items()) {
    for (std::size_t i = 0; i < expected_.size(); ++i) expected_[i] = i;
    apply_updates(scope_, expected_);
    actual_ = expected_;
  }

  /// Takes the updates number `first`, `first` + `step`, ... back.
  void lose(std::size_t first, std::size_t step) {
    const Numbers updates = plain_updates(scope_);
    for (std::size_t k = first; k < updates.size(); k += step) {
      actual_[updates[k] % actual_.size()] ^= updates[k];
    }
  }
  /// Whether the share of wrong items passes, and what is wrong with them.
  [[nodiscard]] std::vector<bool> passed(const Losses& losses) const {
    std::vector<bool> passed;
    for (const runtime::Verdict& verdict : check(scope_, actual_, expected_, losses)) {
      EXPECT_EQ(verdict.checked, actual_.size());
      EXPECT_EQ(verdict.worst.has_value(), verdict.error > 0) << verdict.name;
      passed.push_back(verdict.passed());
    }
    return passed;
  }
  /// Loses the first of `count` pairs of updates of an item, each of another item, from item `first` on.
  void lose_of_pairs(std::size_t count, std::size_t first = 0, std::size_t step = 1) {
    std::map<std::uint64_t, Numbers> by_item;
    for (const std::uint64_t update : plain_updates(scope_))
      by_item[update % actual_.size()].push_back(update);
    for (std::size_t item = first; count > 0; item += step) {
      const Numbers& own = by_item[item % actual_.size()];
      if (own.size() < 2) continue;
      actual_[item % actual_.size()] ^= own.front();
      --count;
    }
  }
  static constexpr Losses kNone{};
  static constexpr Losses kMany{.at_once = 1000};  // the accepted share

  Scope scope_ = make_scope(false, 12, 0, 1);
  Numbers expected_;
  Numbers actual_;
};

using Passed = std::vector<bool>;

TEST_F(Check, TakesUpdatesTwiceAsNever) {
  apply_updates(scope_, actual_);
  for (std::size_t i = 0; i < actual_.size(); ++i) ASSERT_EQ(actual_[i], i);
}

TEST_F(Check, PassesTheRightTable) { EXPECT_EQ(passed(kNone), (Passed{true, true, true})); }

TEST_F(Check, KnowsALostUpdate) {
  lose_of_pairs(1, 77);
  EXPECT_EQ(passed(kNone), (Passed{false, true, true}));
  EXPECT_EQ(passed(kMany), (Passed{true, true, true}));
}

TEST_F(Check, FindsThatHalfOfTheUpdatesAreMissing) {
  lose(0, 2);
  EXPECT_FALSE(passed(kMany)[0]);
}

// What loses an update is another one, which is there.
TEST_F(Check, FindsAnItemThatLacksAllOfItsUpdates) {
  std::size_t lacking = 0;
  std::size_t found = 0;
  for (std::size_t item = 0; item < actual_.size(); item += 16) {
    actual_ = expected_;
    actual_[item] = item;
    if (actual_ == expected_) continue;
    ++lacking;
    found += passed(kMany)[1] ? 0 : 1;
  }
  // Of the others the updates are exclusive-ors of each other, as early ones are: fewer may explain it.
  EXPECT_EQ(lacking, 225U);
  EXPECT_EQ(found, 162U);
}

TEST_F(Check, FindsUpdatesThatWereLeftOutWhereverTheyAre) {
  const Numbers updates = plain_updates(scope_);
  for (const std::size_t first : {std::size_t{3000}, updates.size() - 100}) {
    actual_ = expected_;
    for (std::size_t k = first; k < first + 100; ++k) actual_[updates[k] % actual_.size()] ^= updates[k];
    EXPECT_FALSE(passed({.at_once = 1 << 20})[1]) << first;
  }
}

TEST_F(Check, AcceptsNoMoreLossesThanWorkItemsAtOnceExplain) {
  EXPECT_EQ(most_lost(scope_, kNone), 0U);
  EXPECT_EQ(most_lost(scope_, {.at_once = 1}), 0U);
  EXPECT_EQ(most_lost(scope_, {.at_once = 2}), 40U) << "the accepted share";
  scope_ = make_scope(false, 20, 0, 1);
  EXPECT_EQ(most_lost(scope_, {.at_once = 4}), 80U);
  EXPECT_EQ(most_lost(scope_, {.at_once = 1 << 16}), 10485U);
}

// Of a store on its way, each update meets it that names its item: 18.3 of them, as the sum of squares says.
TEST_F(Check, AcceptsNoMoreLossesThanStoresOnTheirWayExplain) {
  scope_ = make_scope(false, 20, 0, 1);
  EXPECT_EQ(most_lost(scope_, {.at_once = 2, .stores = 1}), 16U * 2 + 16) << "no fewer than work-items";
  const std::size_t most = most_lost(scope_, {.at_once = 16, .stores = 128});
  EXPECT_NEAR(static_cast<double>(most), 18.3 * 128 + 16, 10);
}

/// What the base kernel makes of the updates: it reads as many items as a buffer holds, then writes them.
std::size_t wrong_with_buffer(const Scope& scope, std::size_t buffer) {
  const Numbers updates = plain_updates(scope);
  Numbers right(scope.part_items()), found(scope.part_items()), items(buffer);
  for (std::size_t start = 0; start < updates.size(); start += buffer) {
    const std::size_t count = std::min(buffer, updates.size() - start);
    for (std::size_t k = 0; k < count; ++k) items[k] = found[updates[start + k] % found.size()];
    for (std::size_t k = 0; k < count; ++k) {
      right[updates[start + k] % right.size()] ^= updates[start + k];
      found[updates[start + k] % found.size()] = items[k] ^ updates[start + k];
    }
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < right.size(); ++i) wrong += right[i] == found[i] ? 0 : 1;
  return wrong;
}

TEST_F(Check, AcceptsNoMoreLossesThanABufferExplains) {
  for (const int repetition : {0, 1}) {
    for (const std::size_t buffer : {2, 16, 64}) {
      const Scope scope = make_scope(false, 16, 0, 1, repetition);
      const std::size_t wrong = wrong_with_buffer(scope, buffer);
      const std::size_t most = most_lost(scope, {.window = buffer});
      const auto accepted =
          static_cast<std::size_t>(kAcceptedShare * static_cast<double>(scope.part_items()));
      if (wrong > accepted) continue;
      EXPECT_LE(wrong, most) << buffer;
      EXPECT_LE(most, 5 * wrong + 40) << buffer;
    }
  }
}

TEST_F(Check, FindsLossesThatLieInOnePlace) {
  scope_ = make_scope(false, 16, 0, 1);
  expected_.assign(scope_.part_items(), 0);
  apply_updates(scope_, expected_);
  actual_ = expected_;
  lose_of_pairs(200, 0, 101);
  EXPECT_EQ(passed(kMany), (Passed{true, true, true}));
  actual_ = expected_;
  lose_of_pairs(200, 4000);
  EXPECT_EQ(passed(kMany), (Passed{true, true, false}));
  // Stretches begin with numbers of few bits, so that honest losses are more in the first piece.
  actual_ = expected_;
  lose_of_pairs(200, 0, 101);
  lose_of_pairs(60, 1, 7);
  EXPECT_EQ(passed(kMany), (Passed{true, true, true}));
}

TEST_F(Check, FindsAnythingElseThanALostUpdate) {
  for (const std::size_t item : {77U, 2048U, 4095U}) {
    for (const int bit : {0, 31, 63}) {
      actual_ = expected_;
      actual_[item] ^= std::uint64_t{1} << bit;
      EXPECT_FALSE(passed(kNone)[1]);
    }
  }
}

TEST_F(Check, IsTheSameHoweverManyThreadsThereAre) {
  scope_ = make_scope(false, 19, 1, 2, 3);
  expected_.assign(scope_.part_items(), 0);
  for (const std::uint64_t update : plain_updates({19, 19, 0, 1})) {
    const std::uint64_t later = multiply(update, number_at(scope_.first_number - 1));
    expected_[later % expected_.size()] ^= later;
  }
  for (const int threads : {1, 3, 16}) {
    actual_.assign(scope_.part_items(), 0);
    apply_updates(scope_, actual_, threads);
    EXPECT_TRUE(actual_ == expected_) << threads;
  }
}

TEST_F(Check, FindsGarbageBehindManyLostUpdates) {
  scope_ = make_scope(false, 16, 0, 1);
  expected_.assign(scope_.part_items(), 0);
  apply_updates(scope_, expected_);
  actual_ = expected_;
  lose_of_pairs(600, 0, 101);  // of 655 that the rules accept
  EXPECT_EQ(passed(kMany), (Passed{true, true, true}));
  actual_.back() ^= 0x123456789ABCDEFU;
  EXPECT_EQ(passed(kMany), (Passed{true, false, true}));
}

TEST_F(Check, FindsAnUpdateOfAnotherItem) {
  const std::uint64_t update = plain_updates(scope_)[8000];
  actual_[update % 4096 ^ 1] ^= update;
  EXPECT_EQ(passed(kMany), (Passed{true, false, true}));
}

}  // namespace

}  // namespace fabricmark::random_access
