#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "collectives/replay/choice.hpp"
#include "collectives/replay/replay.hpp"
#include "support.hpp"

namespace fabricmark::collectives {

namespace {

using test::mentions;
using test::message_of;

const Costs kCosts{.issue_seconds = 0.3e-6,
                   .message_seconds = 2e-6,
                   .hop_seconds = 1e-6,
                   .bytes_per_second = 10e9,
                   .copy_bytes_per_second = 40e9,
                   .combine_bytes_per_second = 15e9,
                   .segment_bytes = 65536};

constexpr std::size_t kShort = 8;
constexpr std::size_t kLong = std::size_t{1} << 26U;
constexpr Shape kSwitch{};
constexpr Shape kRing{.wiring = Wiring::kRing};
constexpr Shape kCircuits{.wiring = Wiring::kRing, .only_neighbours_talk = true};
constexpr Shape kTorus{Wiring::kTorus, 4, 4};

std::string chosen(Operation operation, std::size_t bytes, const Shape& shape = kSwitch, int ranks = 16) {
  return std::string(choose({operation, ranks, bytes, shape}, kCosts).algorithm->name);
}

TEST(CollectivesChoice, TakesFewMessagesForShortOnesAndFewBytesForLongOnes) {
  EXPECT_EQ(chosen(Operation::kBroadcast, kShort), "binomial");
  EXPECT_EQ(chosen(Operation::kBroadcast, kLong), "chain");
  EXPECT_EQ(chosen(Operation::kBroadcast, kShort, kSwitch, 3), "binomial") << "as flat, and first by name";
  EXPECT_EQ(chosen(Operation::kReduce, kLong), "ring");
  EXPECT_EQ(chosen(Operation::kAllGather, kShort), "recursive_doubling");
  EXPECT_EQ(chosen(Operation::kAllGather, kShort, kSwitch, 15), "ring");
  EXPECT_EQ(chosen(Operation::kReduceScatter, kShort), "recursive_halving");
  EXPECT_EQ(chosen(Operation::kAllReduce, kShort), "recursive_doubling");
  EXPECT_EQ(chosen(Operation::kAllReduce, kLong), "ring");
  EXPECT_EQ(chosen(Operation::kAllReduce, kLong / 16, kTorus), "two_phase");
  EXPECT_EQ(chosen(Operation::kAllToAll, kShort), "bruck");
  EXPECT_EQ(chosen(Operation::kAllToAll, kLong), "pairwise");
  EXPECT_EQ(chosen(Operation::kScatter, kShort), "flat");
  EXPECT_EQ(chosen(Operation::kBarrier, 0), "dissemination");
}

TEST(CollectivesChoice, TakesNeighboursWhereLinksAreShared) {
  EXPECT_EQ(chosen(Operation::kAllToAll, kLong, kRing), "relay");
  EXPECT_EQ(chosen(Operation::kAllGather, kLong, kRing), "ring");
  EXPECT_EQ(chosen(Operation::kReduceScatter, kLong, kRing), "ring");
}

TEST(CollectivesChoice, LetsOnlyNeighboursTalkOverCircuits) {
  for (const Operation operation : kOperations) {
    for (const int ranks : {1, 2, 5, 16}) {
      const Choice made = choose({operation, ranks, kShort, kCircuits}, kCosts);
      EXPECT_TRUE(ranks == 1 || made.algorithm->reach == Reach::kRing) << made.reason;
    }
  }
  Shape circuits = kTorus;
  circuits.only_neighbours_talk = true;
  EXPECT_EQ(chosen(Operation::kAllReduce, kShort, circuits), "two_phase");
  EXPECT_TRUE(mentions(message_of([&] { chosen(Operation::kScatter, kShort, circuits); }),
                       "no algorithm does scatter of 8 B on 16 ranks, a torus of 4x4 of circuits"));
}

TEST(CollectivesChoice, FollowsTheCosts) {
  Costs costs = kCosts;
  const Problem problem{Operation::kAllReduce, 16, 65536, kSwitch};
  costs.message_seconds = 1;
  EXPECT_EQ(choose(problem, costs).algorithm->name, "recursive_doubling");
  costs.message_seconds = 0;
  costs.issue_seconds = 0;
  EXPECT_EQ(choose(problem, costs).algorithm->name, "ring");
  const Problem all{Operation::kAllToAll, 16, kShort, kSwitch};
  EXPECT_EQ(choose(all, kCosts).algorithm->name, "bruck");
  costs = kCosts;
  costs.copy_bytes_per_second = 1e3;
  EXPECT_EQ(choose(all, costs).algorithm->name, "pairwise");
}

TEST(CollectivesChoice, IsTheLeastOfAllThatFit) {
  for (const Operation operation : kOperations) {
    for (const Shape& shape : {kSwitch, kRing, kTorus, kCircuits}) {
      for (const std::size_t bytes : {kShort, kLong}) {
        const Problem problem{operation, 16, bytes, shape};
        const Choice made = choose(problem, kCosts);
        for (const Algorithm& other : algorithms()) {
          if (!other.fits(problem)) continue;
          EXPECT_LE(made.seconds, replayed_seconds(other, problem, kCosts));
          EXPECT_TRUE(mentions(made.reason, std::string(other.name))) << made.reason;
        }
      }
    }
  }
}

TEST(CollectivesChoice, TakesAFittingOneByName) {
  const Problem problem{Operation::kAllGather, 6, kShort, kSwitch};
  const Choice made = choose(problem, kCosts, "ring");
  EXPECT_EQ(made.algorithm->name, "ring");
  EXPECT_TRUE(mentions(made.reason, "all_gather of 8 B on 6 ranks, any to any: ring, as asked for"))
      << made.reason;
  const std::string refusal = message_of([&] { choose(problem, kCosts, "recursive_doubling"); });
  EXPECT_TRUE(mentions(refusal, "'recursive_doubling' is no algorithm for all_gather")) << refusal;
  EXPECT_TRUE(mentions(refusal, "; use ring")) << refusal;
  const std::string others = message_of([&] {
    choose({Operation::kReduce, 4, kShort, kSwitch}, kCosts, "chain");
  });
  for (const char* name : {"flat", "binomial", "ring"}) EXPECT_TRUE(mentions(others, name)) << others;
}

TEST(CollectivesChoice, RefusesCostsAndShapesThatCannotBe) {
  const auto refused = [](Costs costs, const Problem& problem) {
    return message_of([&] { choose(problem, costs); });
  };
  const Problem problem{Operation::kBroadcast, 4, kShort, kSwitch};
  Costs costs = kCosts;
  costs.message_seconds = -1;
  EXPECT_TRUE(mentions(refused(costs, problem), "0 s or more"));
  costs = kCosts;
  costs.combine_bytes_per_second = 0;
  EXPECT_TRUE(mentions(refused(costs, problem), "0 B/s"));
  EXPECT_TRUE(mentions(refused(kCosts, {Operation::kBroadcast, 4, kShort, kTorus}), "4x4 has not 4 ranks"));
  EXPECT_TRUE(mentions(refused(kCosts, {Operation::kBroadcast, 0, kShort, kSwitch}), "0 ranks"));
}

TEST(CollectivesChoice, RootsNeedReceiveBuffers) {
  constexpr int kRanks = 48;
  const auto chosen = [](Operation operation, std::size_t bytes, const ReceiveBuffers& buffers,
                         const std::string& name = {}) {
    return choose({operation, kRanks, bytes, {}, buffers}, kCosts, name);
  };
  for (const Operation operation : {Operation::kGather, Operation::kReduce}) {
    constexpr std::size_t kBytes = 4096;
    const Choice flat = chosen(operation, kBytes, {47, kBytes}, "flat");
    EXPECT_FALSE(mentions(flat.reason, "receive buffers")) << flat.reason;
    const Choice few = chosen(operation, kBytes, {46, kBytes});
    EXPECT_NE(few.algorithm->name, "flat");
    EXPECT_TRUE(mentions(few.reason, "flat needs 47 receive buffers of 46")) << few.reason;
    // Two buffers for each message, or none where it waits for its receiver.
    EXPECT_TRUE(mentions(chosen(operation, kBytes, {93, kBytes - 1}).reason, "flat needs 94 receive"));
    EXPECT_FALSE(mentions(chosen(operation, kBytes, {1, kBytes, kBytes - 1}).reason, "receive buffers"));
    // By name it is done all the same.
    EXPECT_EQ(chosen(operation, kBytes, {16, kBytes}, "flat").algorithm->name, "flat");
  }
}

TEST(CollectivesChoice, PiecesNeedReceiveBuffersToo) {
  for (const Operation operation : {Operation::kBroadcast, Operation::kReduce}) {
    const std::string name = operation == Operation::kBroadcast ? "chain" : "ring";
    const auto chosen = [&](const ReceiveBuffers& buffers) {
      return choose({operation, 8, kLong, kSwitch, buffers}, kCosts);
    };
    // Most of them wait for words, so that a few buffers are enough.
    const Choice few = chosen({16, 65536});
    EXPECT_EQ(few.algorithm->name, name) << few.reason;
    EXPECT_FALSE(mentions(few.reason, name + " needs")) << few.reason;
    EXPECT_TRUE(mentions(few.reason, "binomial needs 1024 receive buffers of 16")) << few.reason;
    EXPECT_TRUE(mentions(chosen({1, 65536}).reason, name + " needs 2 receive buffers of 1"));
    EXPECT_TRUE(mentions(chosen({16, 1024}).reason, name + " needs 65 receive buffers of 16"));
  }
  // Both bundles of a relay come at the same time.
  const Problem problem{Operation::kAllToAll, 8, 4096, kRing, {6, 4096}};
  EXPECT_TRUE(mentions(choose(problem, kCosts).reason, "relay needs 7 receive buffers of 6"));
}

}  // namespace

}  // namespace fabricmark::collectives
