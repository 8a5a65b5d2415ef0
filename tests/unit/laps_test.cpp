#include "runtime/laps.hpp"

#include <atomic>
#include <stdexcept>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

void spend(double seconds) {
  const auto start = Laps::Clock::now();
  while (Laps::Clock::now() - start < std::chrono::duration<double>(seconds)) {
  }
}

TEST(Delay, IsReadInSecondsOrAsAShare) {
  EXPECT_EQ(parse_delay("0.001").seconds, 0.001);
  EXPECT_EQ(parse_delay("2").seconds, 2);
  EXPECT_EQ(parse_delay("1e-3").seconds, 0.001);
  EXPECT_EQ(parse_delay("10%").share, 0.1);
  EXPECT_EQ(parse_delay("10%").seconds, 0);
  EXPECT_EQ(parse_delay("0%").share, 0);
}

TEST(Delay, RefusesWhatWouldNotEnd) {
  for (const char* text : {"1e30", "61", "1e30%"}) {
    EXPECT_TRUE(test::mentions(test::message_of([&] { parse_delay(text); }), text));
  }
  EXPECT_EQ(parse_delay("60").seconds, 60);
}

TEST(Delay, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "%", "x", "-1", "-1%", "1s", "1 %", "%1", "nan", "inf", "inf%", "1e999", "1%%"}) {
    EXPECT_TRUE(mentions(message_of([&] { parse_delay(text); }), "--inject-delay")) << text;
  }
}

TEST(Laps, KeepOneSampleForEachPartAndRepetitionInTheOrderOfTheFirst) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  Laps laps(*ranks, std::nullopt);
  laps.start_counting();
  for (int repetition = 0; repetition < 3; ++repetition) {
    laps.time("triad", [] { spend(0.002); });
    laps.time("copy", [] {});
  }
  EXPECT_EQ(laps.samples().names, (std::vector<std::string>{"triad", "copy"}));
  ASSERT_EQ(laps.samples().seconds.size(), 2U);
  ASSERT_EQ(laps.samples().seconds[0].size(), 3U);
  EXPECT_EQ(laps.samples().seconds[1].size(), 3U);
  for (const double seconds : laps.samples().seconds[0]) EXPECT_GE(seconds, 0.002);
  EXPECT_GE(laps.total_seconds(), 0.006);
}

TEST(Laps, PauseWhatWatchesForWhatIsDoneAside) {
  const auto ranks = single_rank();
  Laps laps(*ranks, std::nullopt);
  laps.start_counting();
  std::string order;
  laps.aside([&] { order += "alone "; });
  laps.set_watch([&](bool counts) { order += counts ? "on" : "off "; });
  laps.aside([&] { order += "aside "; });
  EXPECT_EQ(order, "alone off aside on");
  EXPECT_EQ(laps.total_seconds(), 0);
}

TEST(Laps, RunTheWarmUpWithoutCountingIt) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  Laps laps(*ranks, std::nullopt);
  int runs = 0;
  laps.time("copy", [&] { ++runs; });
  EXPECT_TRUE(laps.samples().names.empty());
  EXPECT_EQ(laps.total_seconds(), 0);
  laps.start_counting();
  laps.time("copy", [&] { ++runs; });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(laps.samples().seconds.at(0).size(), 1U);
}

TEST(Laps, AreLongerByAnInjectedDelay) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  Laps laps(*ranks, Delay{.seconds = 0.005});
  laps.start_counting();
  laps.time("copy", [] {});
  EXPECT_GE(laps.samples().seconds[0][0], 0.005);
}

TEST(Laps, AreLongerByAShareOfTheirOwnTime) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  Laps laps(*ranks, Delay{.share = 1});
  laps.start_counting();
  double spent = 0;
  laps.time("copy", [&] {
    const auto start = Laps::Clock::now();
    spend(0.004);
    spent = std::chrono::duration<double>(Laps::Clock::now() - start).count();
  });
  EXPECT_GE(laps.samples().seconds[0][0], 2 * spent);
}

TEST(Laps, EndOnAllRanksWhenOneHasFailed) {
  int stopped = 0;
  run_in_process(2, [&](Communicator& ranks) {
    if (ranks.rank() == 1) {
      ranks.fail({ExitCode::kBadUse, "broken; mend it"});
      return 0;
    }
    Laps laps(ranks, std::nullopt);
    try {
      laps.time("copy", [] { ADD_FAILURE() << "the part must not start"; });
    } catch (const PeerFailure& failure) {
      ++stopped;
      EXPECT_STREQ(failure.what(), "broken; mend it (rank 1)");
    }
    return 0;
  });
  EXPECT_EQ(stopped, 1);
}

TEST(Laps, KeepARankThatIsDoneFromDisturbingTheOthers) {
  std::atomic<bool> is_done = false;
  run_in_process(2, [&](Communicator& ranks) {
    Laps laps(ranks, std::nullopt);
    laps.time("copy", [&] {
      if (ranks.rank() == 0) return;
      spend(0.02);
      is_done = true;
    });
    EXPECT_TRUE(is_done) << "rank " << ranks.rank();
    return 0;
  });
}

TEST(Laps, EndOnAllRanksWhenOneFailsWithinThePart) {
  int stopped = 0;
  run_in_process(2, [&](Communicator& ranks) {
    Laps laps(ranks, std::nullopt);
    try {
      laps.time("copy", [&] {
        if (ranks.rank() == 1) throw std::runtime_error("broken");
      });
    } catch (const PeerFailure&) {
      ++stopped;
    } catch (const std::runtime_error&) {
      ranks.fail({ExitCode::kEnvironment, "broken; mend it"});
    }
    return 0;
  });
  EXPECT_EQ(stopped, 1);
}

}  // namespace

}  // namespace fabricmark::runtime
