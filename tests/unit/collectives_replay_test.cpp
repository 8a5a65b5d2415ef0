#include "collectives/replay/replay.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "collectives/program_record.hpp"
#include "collectives_support.hpp"
#include "support.hpp"

namespace fabricmark::collectives {

namespace {

const Costs kReplayCosts{.issue_seconds = 0.5e-6,
                         .message_seconds = 2e-6,
                         .hop_seconds = 1e-6,
                         .bytes_per_second = 1e9,
                         .copy_bytes_per_second = 4e9,
                         .combine_bytes_per_second = 2e9,
                         .segment_bytes = 65536};
constexpr std::size_t kBytes = 8000;
constexpr double kMoved = 8e-6;  // seconds of so many bytes
constexpr Shape kRingShape{.wiring = Wiring::kRing};
constexpr Shape kMesh{.only_neighbours_talk = true};

double seconds(const std::string& name, const Problem& problem, const Costs& costs = kReplayCosts) {
  const auto found = std::ranges::find_if(algorithms(), [&](const Algorithm& one) {
    return one.operation == problem.operation && one.name == name;
  });
  return replayed_seconds(*found, problem, costs);
}

testing::AssertionResult is_about(double actual, double expected) {
  if (std::abs(actual - expected) < 1e-9) return testing::AssertionSuccess();
  return testing::AssertionFailure() << actual << " s, not " << expected;
}

TEST(CollectivesReplay, RecordsWhatEachRankDoes) {
  const auto found = std::ranges::find(algorithms(), "pairwise", &Algorithm::name);
  const std::vector<Step> steps = record(*found, {Operation::kAllToAll, 2, 40}, 1, 0);
  const auto count = [&](Step::Kind kind) { return std::ranges::count(steps, kind, &Step::kind); };
  EXPECT_EQ(count(Step::Kind::kSend), 1);
  EXPECT_EQ(count(Step::Kind::kReceive), 1);
  EXPECT_EQ(count(Step::Kind::kCopy), 1);
  EXPECT_EQ(count(Step::Kind::kWait), 2);
  for (const Step& step : steps) EXPECT_TRUE(step.kind == Step::Kind::kWait || step.bytes == 40);
}

TEST(CollectivesReplay, AMessageTakesItsStartItsLatencyAndItsBytes) {
  EXPECT_TRUE(is_about(seconds("ring", {Operation::kAllGather, 2, kBytes}),
                       kBytes / 4e9 + 2 * 0.5e-6 + 2e-6 + kMoved));
  EXPECT_TRUE(is_about(seconds("flat", {Operation::kBroadcast, 2, kBytes, kMesh}), 0.5e-6 + 2e-6 + kMoved));
}

TEST(CollectivesReplay, RanksThatEndSoonerMakeTheMeanLess) {
  const auto times = [](Operation operation, const std::string& name) {
    const auto found = std::ranges::find_if(
        algorithms(), [&](const Algorithm& one) { return one.operation == operation && one.name == name; });
    return replayed_times(*found, {operation, 4, kBytes}, kReplayCosts);
  };
  const CallTimes gathered = times(Operation::kGather, "flat");
  EXPECT_LT(gathered.mean, 0.9 * gathered.last);  // the root receives the others' elements one by one
  const CallTimes exchanged = times(Operation::kAllGather, "ring");
  EXPECT_NEAR(exchanged.mean, exchanged.last, 1e-9);
}

TEST(CollectivesReplay, MessagesToOneRankShareItsLink) {
  const double over_switch = seconds("flat", {Operation::kGather, 4, kBytes});
  EXPECT_TRUE(is_about(over_switch, 0.5e-6 + 2e-6 + 3 * kMoved));
  EXPECT_TRUE(is_about(seconds("flat", {Operation::kGather, 4, kBytes, kMesh}), 1.5e-6 + 2e-6 + kMoved))
      << "each has a link of its own";
}

TEST(CollectivesReplay, DevicesOfARingPassMessagesOn) {
  // To the rank that is two away: over one more device, after what is for the next.
  const double far = seconds("flat", {Operation::kScatter, 5, kBytes, kRingShape});
  EXPECT_GT(far, 2e-6 + 1e-6 + 2 * kMoved);
  Costs slower = kReplayCosts;
  slower.hop_seconds = 2e-6;
  EXPECT_GT(seconds("flat", {Operation::kScatter, 5, kBytes, kRingShape}, slower), far + 0.9e-6);
}

TEST(CollectivesReplay, WhatIsReceivedIsStoredAndCombined) {
  Costs costs = kReplayCosts;
  costs.store_bytes_per_second = 1e9;
  const Problem problem{Operation::kBroadcast, 2, kBytes};
  EXPECT_TRUE(is_about(seconds("flat", problem, costs), seconds("flat", problem) + kBytes / 1e9));
  const Problem sum{Operation::kReduce, 2, kBytes};
  costs = kReplayCosts;
  costs.combines_as_it_comes = false;
  EXPECT_TRUE(is_about(seconds("binomial", sum, costs), seconds("binomial", sum) + kBytes / 2e9));
  costs.copy_seconds = 1e-6;  // one is a part of the message's latency
  EXPECT_TRUE(is_about(seconds("binomial", sum, costs), seconds("binomial", sum) + kBytes / 2e9));
}

TEST(CollectivesReplay, LongMessagesWaitForTheirReceiver) {
  Problem problem{Operation::kBroadcast, 2, kBytes};
  const double at_once = seconds("flat", problem);
  problem.buffers.longest = kBytes - 1;
  EXPECT_TRUE(is_about(seconds("flat", problem), at_once + 2 * 2e-6));
}

TEST(CollectivesReplay, SendersHearOfTheEnd) {
  Costs costs = kReplayCosts;
  costs.answer_seconds = 100e-6;
  EXPECT_GT(seconds("flat", {Operation::kBroadcast, 2, kBytes}, costs), 100e-6);
}

TEST(CollectivesReplay, CurvesStandForRates) {
  Costs costs = kReplayCosts;
  costs.moving = Curve({{0, 1e-6}, {16000, 17e-6}});
  EXPECT_TRUE(is_about(seconds("flat", {Operation::kBroadcast, 2, kBytes}, costs), 0.5e-6 + 2e-6 + 9e-6));
  EXPECT_DOUBLE_EQ(costs.moving(32000), 33e-6);
  EXPECT_DOUBLE_EQ(Curve({{10, 1.0}, {20, 3.0}})(5), 1.0);
  EXPECT_THROW(Curve({{10, 1.0}, {10, 3.0}}), Error);
  EXPECT_THROW(Curve({{10, -1.0}}), Error);
}

TEST(CollectivesReplay, EndsForAllProgramsAndTakesNoLessWithMoreLatencyOrBytes) {
  Costs slower = kReplayCosts;
  slower.message_seconds *= 2;
  for (const Algorithm& algorithm : algorithms()) {
    for (const int ranks : {1, 2, 3, 4, 6, 9}) {
      for (const Shape& shape : {Shape{}, kRingShape, shape_for(algorithm, ranks, false)}) {
        for (const std::size_t count : {std::size_t{1}, ReceiveBuffers{}.count}) {
          Problem problem{algorithm.operation, ranks, 4096, shape, {count, 4096}};
          if (algorithm.operation == Operation::kBarrier) problem.bytes = 0;
          if (!algorithm.fits(problem)) continue;
          const std::string text =
              fmt::format("{} {} of {}", name_of(algorithm.operation), algorithm.name, ranks);
          const double usual = replayed_seconds(algorithm, problem, kReplayCosts);
          EXPECT_GE(usual, 0) << text;
          const CallTimes times = replayed_times(algorithm, problem, kReplayCosts);
          EXPECT_EQ(times.last, usual) << text;
          EXPECT_LE(times.mean, usual * (1 + 1e-12)) << text;
          EXPECT_GE(times.mean * ranks, usual * (1 - 1e-12)) << text;
          EXPECT_GE(replayed_seconds(algorithm, problem, slower), usual) << text;
          problem.bytes *= 2;
          EXPECT_GE(replayed_seconds(algorithm, problem, kReplayCosts), usual) << text;
        }
      }
    }
  }
}

TEST(CollectivesReplay, GoesOnBeyondTheLongestAsItsLastBytes) {
  const Problem longest{Operation::kAllGather, 4, std::size_t{64} << 20U};
  Problem longer = longest;
  longer.bytes *= 4;
  EXPECT_NEAR(seconds("ring", longer) / seconds("ring", longest), 4, 0.01);
  longer.bytes = std::size_t{1} << 50U;
  EXPECT_GT(seconds("ring", longer), 1e6);
}

}  // namespace

}  // namespace fabricmark::collectives
