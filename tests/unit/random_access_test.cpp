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
  [[nodiscard]] std::vector<bool> passed(bool may_lose_updates) const {
    std::vector<bool> passed;
    for (const runtime::Verdict& verdict : check(scope_, actual_, expected_, may_lose_updates)) {
      EXPECT_EQ(verdict.checked, actual_.size());
      EXPECT_EQ(verdict.worst.has_value(), verdict.error > 0) << verdict.name;
      passed.push_back(verdict.passed());
    }
    return passed;
  }

  Scope scope_ = make_scope(false, 12, 0, 1);
  Numbers expected_;
  Numbers actual_;
};

using Passed = std::vector<bool>;

TEST_F(Check, TakesUpdatesTwiceAsNever) {
  apply_updates(scope_, actual_);
  for (std::size_t i = 0; i < actual_.size(); ++i) ASSERT_EQ(actual_[i], i);
}

TEST_F(Check, PassesTheRightTable) { EXPECT_EQ(passed(false), (Passed{true, true})); }

TEST_F(Check, KnowsALostUpdate) {
  lose(10000, 16384);
  EXPECT_EQ(passed(false), (Passed{false, true}));
  EXPECT_EQ(passed(true), (Passed{true, true}));
}

TEST_F(Check, FindsThatHalfOfTheUpdatesAreMissing) {
  lose(0, 2);
  EXPECT_EQ(passed(true), (Passed{false, true}));
}

TEST_F(Check, AcceptsLossesUpToOnePercent) {
  lose(5, 500);
  EXPECT_EQ(passed(true), (Passed{true, true}));
  lose(7, 300);
  EXPECT_EQ(passed(true), (Passed{false, true}));
}

TEST_F(Check, FindsAnythingElseThanALostUpdate) {
  for (const std::size_t item : {77U, 2048U, 4095U}) {
    for (const int bit : {0, 31, 63}) {
      actual_ = expected_;
      actual_[item] ^= std::uint64_t{1} << bit;
      EXPECT_FALSE(passed(0)[1]);
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
  scope_ = make_scope(false, 20, 0, 1);
  expected_.assign(scope_.part_items(), 0);
  apply_updates(scope_, expected_);
  actual_ = expected_;
  const Numbers updates = plain_updates(scope_);
  for (std::size_t k = 0; k < 9000; ++k) {  // of 10486 that the rules accept
    const std::uint64_t update = updates[updates.size() - 1 - k];
    actual_[update % actual_.size()] ^= update;
  }
  EXPECT_EQ(passed(true), (Passed{true, true}));
  actual_.back() ^= 0x123456789ABCDEFU;
  EXPECT_EQ(passed(true), (Passed{true, false}));
}

TEST_F(Check, FindsAnUpdateOfAnotherItem) {
  const std::uint64_t update = plain_updates(scope_)[8000];
  actual_[update % 4096 ^ 1] ^= update;
  EXPECT_EQ(passed(true), (Passed{true, false}));
}

}  // namespace

}  // namespace fabricmark::random_access
