#include "runtime/communicator.hpp"

#include <atomic>
#include <cmath>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

TEST(SingleRank, ExchangesWithItself) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  EXPECT_EQ(ranks->rank(), 0);
  EXPECT_EQ(ranks->size(), 1);
  EXPECT_EQ(ranks->local_size(), 1);
  EXPECT_EQ(ranks->kind(), "single");
  EXPECT_TRUE(ranks->is_root());
  EXPECT_EQ(ranks->all_reduce_max(-5), -5);
  EXPECT_EQ(ranks->all_gather_texts("x"), (std::vector<std::string>{"x"}));
  EXPECT_EQ(ranks->all_gather_texts(""), (std::vector<std::string>{""}));
  EXPECT_EQ(ranks->all_gather_numbers({1, 2}), (std::vector<std::vector<double>>{{1, 2}}));
  EXPECT_EQ(ranks->all_gather_numbers({}), (std::vector<std::vector<double>>{{}}));
}

TEST(InProcessRanks, KnowTheirPlace) {
  std::atomic<int> sum = 0;
  std::atomic<int> roots = 0;
  run_in_process(5, [&](Communicator& ranks) {
    sum += ranks.rank();
    roots += ranks.is_root() ? 1 : 0;
    return ranks.size() == 5 && ranks.local_rank() == ranks.rank() && ranks.kind() == "in-process" ? 0 : 1;
  });
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(roots, 1);
}

TEST(InProcessRanks, ReturnTheLargestResult) {
  EXPECT_EQ(run_in_process(4, [](Communicator& ranks) { return ranks.rank() == 2 ? 3 : 1; }), 3);
  EXPECT_EQ(run_in_process(1, [](Communicator& /*ranks*/) { return 2; }), 2);
}

TEST(InProcessRanks, FindTheLargestOfNegativeNumbersToo) {
  EXPECT_EQ(
      run_in_process(
          3, [](Communicator& ranks) { return static_cast<int>(ranks.all_reduce_max(-1 - ranks.rank())); }),
      -1);
}

TEST(InProcessRanks, GatherPartsOfDifferentLengths) {
  std::atomic<int> wrong = 0;
  run_in_process(4, [&](Communicator& ranks) {
    const auto length = static_cast<std::size_t>(ranks.rank());
    const std::vector<std::string> texts = ranks.all_gather_texts(std::string(length, 'x'));
    const std::vector<std::vector<double>> numbers =
        ranks.all_gather_numbers(std::vector<double>(length, 0.5));
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
  run_in_process(kRanks, [&](Communicator& ranks) {
    for (int call = 0; call < kCalls; ++call) {
      const int value = (call * 7 + ranks.rank() * 5) % 11;
      int largest = 0;
      for (int rank = 0; rank < kRanks; ++rank) largest = std::max(largest, (call * 7 + rank * 5) % 11);
      if (ranks.all_reduce_max(value) != largest) ++wrong;
      if (call % 3 != 0) continue;
      const std::vector<std::vector<double>> all = ranks.all_gather_numbers({1.0 * call, 1.0 * ranks.rank()});
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
  run_in_process(6, [&](Communicator& ranks) {
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

TEST(InProcessRanks, ReduceNumbers) {
  run_in_process(3, [](Communicator& ranks) {
    const double own = ranks.rank() + 0.5;
    EXPECT_EQ(ranks.all_reduce_sum(own), 4.5);
    EXPECT_EQ(ranks.all_reduce_max_number(own), 2.5);
    EXPECT_TRUE(std::isnan(ranks.all_reduce_max_number(ranks.rank() == 1 ? NAN : own)));
    EXPECT_EQ(ranks.all_reduce_min(5 - ranks.rank()), 3);
    EXPECT_EQ(ranks.all_reduce_min(-5 - ranks.rank()), -7);
    return 0;
  });
}

TEST(InProcessRanks, AreSplitIntoPartsThatMeetAndSendApart) {
  run_in_process(6, [](Communicator& ranks) {
    const std::unique_ptr<Communicator> part = ranks.split(ranks.rank() % 2, -ranks.rank());
    EXPECT_EQ(part->size(), 3);
    EXPECT_EQ(part->rank(), 2 - ranks.rank() / 2) << "by descending rank";
    EXPECT_EQ(part->all_reduce_max(ranks.rank()), 4 + ranks.rank() % 2);
    const std::unique_ptr<Communicator> pair = part->split(part->rank() == 0 ? 1 : 0, 0);
    EXPECT_EQ(pair->size(), part->rank() == 0 ? 1 : 2);
    // The same tag to the same rank, in three communicators.
    int in_all = -1;
    int in_part = -1;
    Request first = ranks.start_receive(ranks.rank(), std::as_writable_bytes(std::span(&in_all, 1)), 7);
    Request second = part->start_receive(part->rank(), std::as_writable_bytes(std::span(&in_part, 1)), 7);
    const int one = 1;
    const int two = 2;
    Request sent = part->start_send(part->rank(), std::as_bytes(std::span(&two, 1)), 7);
    Request also = ranks.start_send(ranks.rank(), std::as_bytes(std::span(&one, 1)), 7);
    ranks.wait(first, ranks.rank());
    part->wait(second, part->rank());
    part->wait(sent, part->rank());
    ranks.wait(also, ranks.rank());
    EXPECT_EQ(in_all, 1);
    EXPECT_EQ(in_part, 2);
    return 0;
  });
}

TEST(InProcessRanks, SayWhenTheyAreNotInTheSameStep) {
  std::atomic<int> refused = 0;
  run_in_process(2, [&](Communicator& ranks) {
    const std::string message = test::message_of(
        [&] {
          if (ranks.rank() == 0) ranks.barrier();
          ranks.all_gather_texts("x");
        },
        ExitCode::kEnvironment);
    refused += test::mentions(message, "not in the same step") ? 1 : 0;
    return 0;
  });
  EXPECT_EQ(refused, 2);
}

}  // namespace

}  // namespace fabricmark::runtime
