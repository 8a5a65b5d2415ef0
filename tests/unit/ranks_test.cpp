#include "harness/ranks.hpp"

#include <atomic>

#include "support.hpp"

namespace fabricmark::harness {

namespace {

TEST(SingleRank, ExchangesWithItself) {
  const std::unique_ptr<Ranks> ranks = single_rank();
  EXPECT_EQ(ranks->rank(), 0);
  EXPECT_EQ(ranks->size(), 1);
  EXPECT_EQ(ranks->local_size(), 1);
  EXPECT_EQ(ranks->kind(), "single");
  EXPECT_TRUE(ranks->is_root());
  EXPECT_EQ(ranks->largest(-5), -5);
  EXPECT_EQ(ranks->gather_texts("x"), (std::vector<std::string>{"x"}));
  EXPECT_EQ(ranks->gather_texts(""), (std::vector<std::string>{""}));
  EXPECT_EQ(ranks->gather_numbers({1, 2}), (std::vector<std::vector<double>>{{1, 2}}));
  EXPECT_EQ(ranks->gather_numbers({}), (std::vector<std::vector<double>>{{}}));
}

TEST(InProcessRanks, KnowTheirPlace) {
  std::atomic<int> sum = 0;
  std::atomic<int> roots = 0;
  run_in_process(5, [&](Ranks& ranks) {
    sum += ranks.rank();
    roots += ranks.is_root() ? 1 : 0;
    return ranks.size() == 5 && ranks.local_rank() == ranks.rank() && ranks.kind() == "in-process" ? 0 : 1;
  });
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(roots, 1);
}

TEST(InProcessRanks, ReturnTheLargestResult) {
  EXPECT_EQ(run_in_process(4, [](Ranks& ranks) { return ranks.rank() == 2 ? 3 : 1; }), 3);
  EXPECT_EQ(run_in_process(1, [](Ranks& /*ranks*/) { return 2; }), 2);
}

TEST(InProcessRanks, FindTheLargestOfNegativeNumbersToo) {
  EXPECT_EQ(
      run_in_process(3, [](Ranks& ranks) { return static_cast<int>(ranks.largest(-1 - ranks.rank())); }), -1);
}

TEST(InProcessRanks, GatherPartsOfDifferentLengths) {
  std::atomic<int> wrong = 0;
  run_in_process(4, [&](Ranks& ranks) {
    const auto length = static_cast<std::size_t>(ranks.rank());
    const std::vector<std::string> texts = ranks.gather_texts(std::string(length, 'x'));
    const std::vector<std::vector<double>> numbers = ranks.gather_numbers(std::vector<double>(length, 0.5));
    for (std::size_t rank = 0; rank < 4; ++rank) {
      if (texts.at(rank) != std::string(rank, 'x')) ++wrong;
      if (numbers.at(rank) != std::vector<double>(rank, 0.5)) ++wrong;
    }
    return 0;
  });
  EXPECT_EQ(wrong, 0);
}

// With the thread sanitizer this shows whether a fast rank writes what a slow one still reads.
TEST(InProcessRanks, StayInStepOverManyCalls) {
  constexpr int kRanks = 8;
  constexpr int kCalls = 3000;
  std::atomic<int> wrong = 0;
  run_in_process(kRanks, [&](Ranks& ranks) {
    for (int call = 0; call < kCalls; ++call) {
      const int value = (call * 7 + ranks.rank() * 5) % 11;
      int largest = 0;
      for (int rank = 0; rank < kRanks; ++rank) largest = std::max(largest, (call * 7 + rank * 5) % 11);
      if (ranks.largest(value) != largest) ++wrong;
      if (call % 3 != 0) continue;
      const std::vector<std::vector<double>> all = ranks.gather_numbers({1.0 * call, 1.0 * ranks.rank()});
      for (int rank = 0; rank < kRanks; ++rank) {
        if (all.at(static_cast<std::size_t>(rank)) != std::vector<double>{1.0 * call, 1.0 * rank}) ++wrong;
      }
    }
    return 0;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(InProcessRanks, MeetAtABarrier) {
  std::atomic<int> arrived = 0;
  std::atomic<int> early = 0;
  run_in_process(6, [&](Ranks& ranks) {
    for (int round = 1; round <= 200; ++round) {
      ++arrived;
      ranks.barrier();
      if (arrived < 6 * round) ++early;
      ranks.barrier();
    }
    return 0;
  });
  EXPECT_EQ(early, 0);
}

TEST(Launcher, IsKnownFromItsVariables) {
  const std::vector<const char*> names{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK",
                                       "SLURM_NTASKS"};
  for (const char* name : names) unsetenv(name);
  EXPECT_FALSE(started_by_launcher());
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    setenv(name, "2", 1);
    EXPECT_TRUE(started_by_launcher()) << name;
    unsetenv(name);
  }
  setenv("PMI_RANK", "0", 1);
  EXPECT_FALSE(started_by_launcher()) << "an allocation of one task is no launcher";
  setenv("SLURM_NTASKS", "2", 1);
  EXPECT_TRUE(started_by_launcher());
  for (const char* name : names) unsetenv(name);
}

}  // namespace

}  // namespace fabricmark::harness
