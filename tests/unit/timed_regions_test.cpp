#include "runtime/timed_regions.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "runtime/exchange.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

void spend(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::duration<double>(seconds)) {
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

TEST(TimedRegions, KeepOneSampleForEachPartAndRepetitionInTheOrderOfTheFirst) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  TimedRegions regions(*ranks, std::nullopt);
  regions.start_counting();
  for (int repetition = 0; repetition < 3; ++repetition) {
    regions.time("triad", [] { spend(0.002); });
    regions.time("copy", [] {});
  }
  EXPECT_EQ(regions.samples().names, (std::vector<std::string>{"triad", "copy"}));
  ASSERT_EQ(regions.samples().seconds.size(), 2U);
  ASSERT_EQ(regions.samples().seconds[0].size(), 3U);
  EXPECT_EQ(regions.samples().seconds[1].size(), 3U);
  for (const double seconds : regions.samples().seconds[0]) EXPECT_GE(seconds, 0.002);
  EXPECT_GE(regions.total_seconds(), 0.006);
}

TEST(TimedRegions, PauseWhatWatchesForWhatIsDoneAside) {
  const auto ranks = single_rank();
  TimedRegions regions(*ranks, std::nullopt);
  regions.start_counting();
  std::string order;
  regions.aside([&] { order += "alone "; });
  regions.set_watch([&](bool counts) { order += counts ? "on" : "off "; });
  regions.aside([&] { order += "aside "; });
  EXPECT_EQ(order, "alone off aside on");
  EXPECT_EQ(regions.total_seconds(), 0);
}

TEST(TimedRegions, KeepSamplesOfOtherClocks) {
  const auto ranks = single_rank();
  TimedRegions regions(*ranks, std::nullopt);
  regions.keep("event", 5);
  regions.start_counting();
  regions.keep("event", 0.25);
  regions.keep("event", 0.5);
  EXPECT_EQ(regions.samples().names, (std::vector<std::string>{"event"}));
  EXPECT_EQ(regions.samples().seconds[0], (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(regions.total_seconds(), 0) << "they are part of no time that was waited for";
}

TEST(TimedRegions, RunTheWarmUpWithoutCountingIt) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  TimedRegions regions(*ranks, std::nullopt);
  int runs = 0;
  regions.time("copy", [&] { ++runs; });
  EXPECT_TRUE(regions.samples().names.empty());
  EXPECT_EQ(regions.total_seconds(), 0);
  regions.start_counting();
  regions.time("copy", [&] { ++runs; });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(regions.samples().seconds.at(0).size(), 1U);
}

TEST(TimedRegions, AreLongerByAnInjectedDelay) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  TimedRegions regions(*ranks, Delay{.seconds = 0.005});
  regions.start_counting();
  regions.time("copy", [] {});
  EXPECT_GE(regions.samples().seconds[0][0], 0.005);
}

TEST(TimedRegions, AreLongerByAShareOfTheirOwnTime) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  TimedRegions regions(*ranks, Delay{.share = 1});
  regions.start_counting();
  double spent = 0;
  regions.time("copy", [&] {
    const auto start = std::chrono::steady_clock::now();
    spend(0.004);
    spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  EXPECT_GE(regions.samples().seconds[0][0], 2 * spent);
}

TEST(TimedRegions, HaveNoModelledTimeUnlessTheirClockIsSimulated) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  SimulatedClock simulated;
  simulated.advance(5);  // outside of any part
  TimedRegions regions(*ranks, std::nullopt, &simulated);
  regions.start_counting();
  const Elapsed elapsed = regions.time("copy", [] { spend(0.002); });
  EXPECT_FALSE(elapsed.modelled_seconds);
  EXPECT_GE(elapsed.wall_seconds, 0.002);
  EXPECT_FALSE(regions.samples().are_modelled());
}

TEST(TimedRegions, KeepWallAndModelledTimeOfAPartApart) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  SimulatedClock simulated;
  TimedRegions regions(*ranks, std::nullopt, &simulated);
  regions.start_counting();
  const Elapsed all = regions.time(
      "copy",
      [&] {
        for (int i = 0; i < 4; ++i) simulated.advance(250);
      },
      4);
  regions.time("triad", [] {});
  EXPECT_EQ(all.modelled_seconds, 250.0);
  EXPECT_LT(regions.samples().seconds[0][0], 250);
  EXPECT_EQ(regions.samples().modelled_seconds, (std::vector<std::vector<double>>{{250}, {0}}));
  EXPECT_TRUE(regions.samples().are_modelled());
  EXPECT_LT(regions.total_seconds(), 250);
}

TEST(TimedRegions, StandStillInAPause) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  SimulatedClock simulated;
  TimedRegions regions(*ranks, std::nullopt, &simulated);
  regions.start_counting();
  std::vector<bool> watched;
  regions.set_watch([&](bool counts) { watched.push_back(counts); });
  const WallClock clock;
  const double start = clock.seconds();
  const Elapsed found = regions.time("steps", [&] {
    simulated.advance(1);
    regions.pause([&] {
      simulated.advance(100);
      spend(0.02);
    });
    simulated.advance(2);
  });
  EXPECT_EQ(found.modelled_seconds, 3);
  EXPECT_LE(found.wall_seconds, clock.seconds() - start - 0.02);
  EXPECT_EQ(watched, (std::vector<bool>{false, true}));
}

TEST(TimedRegions, SimulatedOnSomeRanksHaveTheSlowestRanksModelledTime) {
  run_in_process(3, [](Communicator& ranks) {
    SimulatedClock simulated;
    TimedRegions regions(ranks, std::nullopt, &simulated);
    regions.start_counting();
    for (int repetition = 1; repetition <= 2; ++repetition) {
      regions.time("copy", [&] {
        if (ranks.rank() > 0) simulated.advance(10.0 * ranks.rank() + repetition);
      });
    }
    Result result;
    gather_samples(ranks, regions.samples(), SharedClock(ranks), result);
    Metric metric{.name = "time", .region = "copy", .unit = "s", .kind = TimeKind::kModelled};
    EXPECT_EQ(values_of(result, metric), (std::vector<double>{21, 22}));
    metric.kind.reset();
    for (const double value : values_of(result, metric)) EXPECT_LT(value, 10);
    return 0;
  });
}

TEST(TimedRegions, OfUnsimulatedClocksGatherNoModelledTimes) {
  run_in_process(2, [](Communicator& ranks) {
    TimedRegions regions(ranks, std::nullopt);
    regions.start_counting();
    regions.time("copy", [] {});
    Result result;
    gather_samples(ranks, regions.samples(), SharedClock(ranks), result);
    EXPECT_TRUE(result.modelled_seconds.empty());
    EXPECT_EQ(result.seconds.at(0).size(), 2U);
    return 0;
  });
}

TEST(TimedRegions, OfManyTheSameAreTimedAsOneUnlessEachIsKept) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  TimedRegions regions(*ranks, std::nullopt);
  regions.start_counting();
  std::vector<std::size_t> places;
  regions.time_each("copy", 3, [&](std::size_t place) { places.push_back(place); });
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(regions.samples().seconds.at(0).size(), 1U);
  EXPECT_TRUE(regions.samples().inner_seconds.at(0).empty());
}

TEST(TimedRegions, KeepEveryInnerSampleOnRequest) {
  run_in_process(2, [](Communicator& ranks) {
    SimulatedClock simulated;
    TimedRegions regions(ranks, Delay{.seconds = 0.001}, &simulated);
    regions.keep_inner_samples();
    const auto body = [&](std::size_t place) {
      simulated.advance(8);
      if (place == 1) spend(0.002);
    };
    regions.time_each("copy", 3, body);  // the warm-up
    regions.start_counting();
    for (int repetition = 0; repetition < 2; ++repetition) {
      EXPECT_EQ(regions.time_each("copy", 3, body).modelled_seconds, 8.0);
    }
    Result result;
    gather_samples(ranks, regions.samples(), SharedClock(ranks), result);
    const std::vector<Result::PerRank>& inner = result.inner_seconds.at(0);
    EXPECT_EQ(inner.size(), 2U);
    for (std::size_t rank = 0; rank < inner.size(); ++rank) {
      EXPECT_EQ(inner[rank].size(), 2U);
      for (std::size_t repetition = 0; repetition < inner[rank].size(); ++repetition) {
        const std::vector<double>& times = inner[rank][repetition];
        EXPECT_EQ(times.size(), 3U);
        EXPECT_GE(times.at(1), 0.002);
        EXPECT_GE(times.at(2), 0.001);  // the delay ends the part
        EXPECT_NEAR((times[0] + times[1] + times[2]) / 3, result.seconds[0][rank][repetition], 1e-12);
      }
    }
    return 0;
  });
}

TEST(SimulatedClock, RefusesWhatIsNoTime) {
  SimulatedClock clock;
  for (const double seconds : {-1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_TRUE(
        mentions(message_of([&] { clock.advance(seconds); }, ExitCode::kEnvironment), "a model took"));
  }
  EXPECT_EQ(clock.seconds(), 0);
  clock.advance(0.5);
  clock.advance(0.25);
  EXPECT_EQ(clock.seconds(), 0.75);
}

TEST(WallClock, MovesByItself) {
  const WallClock clock;
  const double start = clock.seconds();
  spend(0.001);
  EXPECT_GE(clock.seconds() - start, 0.001);
}

TEST(TimedRegions, EndOnAllRanksWhenOneHasFailed) {
  int stopped = 0;
  run_in_process(2, [&](Communicator& ranks) {
    if (ranks.rank() == 1) {
      ranks.fail({ExitCode::kBadUse, "broken; mend it"});
      return 0;
    }
    TimedRegions regions(ranks, std::nullopt);
    try {
      regions.time("copy", [] { ADD_FAILURE() << "the part must not start"; });
    } catch (const PeerFailure& failure) {
      ++stopped;
      EXPECT_STREQ(failure.what(), "broken; mend it (rank 1)");
    }
    return 0;
  });
  EXPECT_EQ(stopped, 1);
}

TEST(TimedRegions, KeepARankThatIsDoneFromDisturbingTheOthers) {
  std::atomic<bool> is_done = false;
  run_in_process(2, [&](Communicator& ranks) {
    TimedRegions regions(ranks, std::nullopt);
    regions.time("copy", [&] {
      if (ranks.rank() == 0) return;
      spend(0.02);
      is_done = true;
    });
    EXPECT_TRUE(is_done) << "rank " << ranks.rank();
    return 0;
  });
}

TEST(TimedRegions, EndOnAllRanksWhenOneFailsWithinThePart) {
  int stopped = 0;
  run_in_process(2, [&](Communicator& ranks) {
    TimedRegions regions(ranks, std::nullopt);
    try {
      regions.time("copy", [&] {
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
