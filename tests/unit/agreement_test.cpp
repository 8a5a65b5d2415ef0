#include "runtime/agreement.hpp"

#include <array>
#include <atomic>
#include <new>
#include <thread>

#include "device/opencl/opencl.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;

TEST(Attempt, TurnsEveryExceptionIntoAFailureWithARemedy) {
  EXPECT_FALSE(attempt([] {}).has_value());
  const auto own = attempt([] { throw bad_use("cause", "remedy"); });
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->code, ExitCode::kBadUse);
  EXPECT_EQ(own->message, "cause; remedy");
  for (const auto& action : std::vector<std::function<void()>>{
           [] { throw std::bad_alloc(); }, [] { throw std::runtime_error("oops"); },
           [] { throw cl::Error(CL_OUT_OF_RESOURCES, "clFinish"); }}) {
    const auto failure = attempt(action);
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code, ExitCode::kEnvironment);
    EXPECT_TRUE(mentions(failure->message, "; ")) << failure->message;
  }
  EXPECT_TRUE(mentions(attempt([] { throw cl::Error(CL_OUT_OF_RESOURCES, "clFinish"); })->message,
                       "clFinish with CL_OUT_OF_RESOURCES"));
}

TEST(Attempt, LetsAPeersFailurePass) {
  EXPECT_THROW(attempt([] { throw PeerFailure(1, {}); }), PeerFailure);
}

TEST(Attempt, KnowsWhoWaitedInVain) {
  EXPECT_TRUE(attempt([] { throw DeadlineError("no sign"); })->is_deadline);
  EXPECT_FALSE(attempt([] { throw bad_use("cause", "remedy"); })->is_deadline);
}

/// How four ranks end when `action(rank)` runs on all: code and message; "!" where not all have come.
std::array<std::string, 4> learned(const std::function<void(Communicator&)>& action) {
  std::array<std::string, 4> endings;
  std::atomic<int> speakers = 0;
  run_in_process(4, [&](Communicator& ranks) {
    std::optional<Failure> failure;
    try {
      failure = attempt([&] { collective_step(ranks, [&] { action(ranks); }); });
    } catch (const PeerFailure&) {
    }
    const Ending ending = ranks.end(failure);
    if (ending.is_speaker) ++speakers;
    endings[static_cast<std::size_t>(ranks.rank())] =
        (ending.is_orderly ? "" : "!") + std::to_string(static_cast<int>(ending.code)) + " " + ending.message;
    return 0;
  });
  EXPECT_LE(speakers, 1);
  return endings;
}

/// The same without "!": after a failure, a rank of a busy machine may come late to the end.
std::string late_or_not(const std::string& ending) {
  return ending.starts_with("!") ? ending.substr(1) : ending;
}

TEST(CollectiveStep, GoesOnWhenNobodyFails) {
  for (const std::string& ending : learned([](Communicator&) {})) EXPECT_EQ(ending, "0 ");
}

TEST(CollectiveStep, EndsAllRanksWithTheWordsOfTheOneThatFailed) {
  const auto endings = learned([](Communicator& ranks) {
    if (ranks.rank() == 2) throw bad_use("cause", "remedy");
  });
  for (const std::string& ending : endings) EXPECT_EQ(late_or_not(ending), "2 cause; remedy (rank 2)");
}

TEST(CollectiveStep, EndsRanksThatAreInAGather) {
  const auto endings = learned([](Communicator& ranks) {
    if (ranks.rank() == 3) throw bad_use("cause", "remedy");
    ranks.all_gather_numbers({1});
  });
  for (const std::string& ending : endings) EXPECT_EQ(late_or_not(ending), "2 cause; remedy (rank 3)");
}

TEST(CollectiveStep, EndsRanksThatWaitForAMessage) {
  const auto endings = learned([](Communicator& ranks) {
    if (ranks.rank() == 0) throw bad_use("cause", "remedy");
    std::array<std::byte, 4> memory{};
    Request request = ranks.start_receive(0, memory, 0);
    ranks.wait(request, 0, ranks.rank() == 1 ? Waiting::kSleep : Waiting::kYield);
  });
  for (const std::string& ending : endings) EXPECT_EQ(late_or_not(ending), "2 cause; remedy (rank 0)");
}

TEST(CollectiveStep, TakesTheFirstOfSeveralFailures) {
  const auto endings = learned([](Communicator& ranks) {
    if (ranks.rank() == 1) throw environment_failure("first", "remedy");
    if (ranks.rank() == 3) throw bad_use("second", "remedy");
  });
  for (const std::string& ending : endings) EXPECT_EQ(late_or_not(ending), "3 first; remedy (rank 1)");
}

TEST(CollectiveStep, NamesTheRankThatDidNotCome) {
  const auto endings = learned([&](Communicator& ranks) {
    ranks.set_timeout(0.01);
    if (ranks.rank() != 1) return;
    // Looks at nothing until the others have ended.
    std::this_thread::sleep_for(std::chrono::milliseconds(10) + Communicator::kStepMargin +
                                Communicator::kGrace + std::chrono::seconds(1));
  });
  for (const std::size_t rank : {0U, 2U, 3U}) {
    EXPECT_TRUE(endings[rank].starts_with("!3 rank 1 does not answer: ")) << endings[rank];
    EXPECT_TRUE(mentions(endings[rank], "--timeout")) << endings[rank];
  }
}

TEST(CollectiveStep, SaysNoRankWhereThereIsOnlyOne) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  const auto failure = attempt([&] { collective_step(*ranks, [] { throw bad_use("cause", "remedy"); }); });
  EXPECT_EQ(ranks->end(failure).message, "cause; remedy");
}

TEST(Agree, PutsWhatFailedBeforeWhoWaited) {
  const Failure waited{ExitCode::kEnvironment, "waited; remedy", true};
  const Failure failed{ExitCode::kBadUse, "failed; remedy"};
  EXPECT_EQ(agree({waited, failed, Failure{}}, 0).message, "failed; remedy (rank 1)");
  EXPECT_EQ(agree({Failure{}, waited}, 0).message, "waited; remedy (rank 1)");
  const Ending lost = agree({std::nullopt, waited, std::nullopt}, 1);
  EXPECT_EQ(lost.message, "rank 0, 2 does not answer: waited; remedy (rank 1)");
  EXPECT_TRUE(lost.is_speaker);
  EXPECT_FALSE(lost.is_orderly);
  EXPECT_EQ(lost.code, ExitCode::kEnvironment);
}

TEST(Agree, NamesARankOfTheCircleAndNotOneThatWaitsForIt) {
  const auto waits_for = [](int rank) { return Failure{ExitCode::kEnvironment, "waited", true, rank}; };
  EXPECT_EQ(agree({waits_for(2), waits_for(2), waits_for(1)}, 0).message, "waited (rank 1)");
  EXPECT_EQ(agree({waits_for(2), waits_for(0), waits_for(1)}, 0).message, "waited (rank 0)");
  EXPECT_EQ(agree({waits_for(0), waits_for(1)}, 0).message, "waited (rank 0)") << "for itself";
  EXPECT_EQ(agree({Failure{}, waits_for(2), waits_for(0)}, 0).message, "waited (rank 2)");
  EXPECT_EQ(agree({waits_for(1), waits_for(2), std::nullopt}, 0).message,
            "rank 2 does not answer: waited (rank 1)");
  EXPECT_EQ(agree({waits_for(7), waits_for(-1)}, 0).message, "waited (rank 0)") << "no such rank";
}

TEST(CollectiveStep, NamesARankOfTheCircleWhoeverGivesUpFirst) {
  for (const int first : {0, 1, 2}) {
    const auto endings = learned([&](Communicator& ranks) {
      constexpr std::array<int, 4> kAwaited{2, 2, 1, 0};
      ranks.set_timeout(ranks.rank() == first ? 1 : 1.2);
      ranks.barrier();
      std::byte byte{};
      const int peer = kAwaited.at(static_cast<std::size_t>(ranks.rank()));
      Request request = ranks.start_receive(peer, std::span(&byte, 1), 1);
      ranks.wait(request, peer);
    });
    for (const std::string& ending : endings) {
      EXPECT_TRUE(mentions(ending, "a message from or to rank 2 in ")) << ending;
      EXPECT_TRUE(ending.ends_with("(rank 1)")) << ending;
    }
  }
}

TEST(RequireSame, PassesWhereAllRanksWereAskedTheSame) {
  run_in_process(3, [](Communicator& ranks) {
    require_same(ranks, {{"--size", "1000"}, {"empty", ""}});
    return 0;
  });
}

TEST(RequireSame, NamesBothValuesAndTheRanks) {
  const auto said = [](const Asked& usual, const Asked& other) {
    const auto endings =
        learned([&](Communicator& ranks) { require_same(ranks, ranks.rank() == 2 ? other : usual); });
    for (const std::string& ending : endings) EXPECT_EQ(late_or_not(ending), late_or_not(endings[0]));
    return endings[0];
  };
  EXPECT_TRUE(mentions(said({{"--size", "1"}}, {{"--size", "2"}}), "--size is 1 on rank 0 and 2 on rank 2"));
  EXPECT_TRUE(
      mentions(said({}, {{"--timeline", "true"}}), "--timeline is nothing on rank 0 and true on rank 2"));
  EXPECT_TRUE(
      mentions(said({{"--timeline", "true"}}, {}), "--timeline is true on rank 0 and nothing on rank 2"));
}

}  // namespace

}  // namespace fabricmark::runtime
