#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/program_record.hpp"
#include "network/topology.hpp"
#include "simulate/place.hpp"
#include "simulate/player.hpp"
#include "simulate/program.hpp"

namespace fabricmark::simulate {

namespace {

using Kind = Op::Kind;

constexpr double kMicro = 1e-6;
constexpr double kTenthOfPercent = 1e-3;
/// Frames of 1056 B and headers of 38 B, 4.41 GB/s of payload: those of Mondigo 2020.
constexpr double kPayloadRate = 4.41e9;
const Costs kCosts{.node_seconds = 0.336e-6,
                   .cable_seconds = 0.496e-6,
                   .switch_seconds = 0.318e-6,
                   .bytes_per_second = kPayloadRate * 1094 / 1056,
                   .frame_bytes = 1056,
                   .header_bytes = 38};

std::vector<Program> call(collectives::Operation operation, const std::string& name, int ranks,
                          std::size_t bytes) {
  const collectives::Problem problem{.operation = operation, .ranks = ranks, .bytes = bytes};
  const auto found = std::ranges::find_if(collectives::algorithms(), [&](const collectives::Algorithm& one) {
    return one.operation == operation && one.name == name;
  });
  std::vector<Program> programs(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    append(programs[static_cast<std::size_t>(rank)], collectives::record(*found, problem, rank, 0));
  return programs;
}

Setting in_order(const network::Topology& topology, const Costs& costs = kCosts) {
  std::vector<int> devices(static_cast<std::size_t>(topology.devices()));
  std::iota(devices.begin(), devices.end(), 0);
  return {topology, devices, costs};
}

/// One message from rank 0 to rank 1 of so many.
std::vector<Program> one_message(int ranks, double bytes) {
  std::vector<Program> programs(static_cast<std::size_t>(ranks));
  programs[0] = {{Kind::kSend, 0, 1, bytes}, {Kind::kWait, 0, 0, 0}};
  programs[1] = {{Kind::kReceive, 0, 0, 0}, {Kind::kWait, 0, 0, 0}};
  return programs;
}

/// What a program does where no loop is left.
Program unrolled(const Program& program) {
  Program found;
  std::vector<std::size_t> begins;  // in `found`, of each step of the program
  for (const Op& op : program) {
    begins.push_back(found.size());
    if (op.kind != Kind::kRepeat) {
      found.push_back(op);
      continue;
    }
    const Program body(found.begin() + static_cast<std::ptrdiff_t>(begins[begins.size() - 1 - op.peer]),
                       found.end());
    for (double turn = 1; turn < op.amount; ++turn) found.insert(found.end(), body.begin(), body.end());
  }
  return found;
}

TEST(Simulate, AMessageAloneTakesWhatTheSystemSays) {
  const network::Topology topology = network::leaf_spine(2, 1, 1);
  for (const double bytes : {1.0, 1056.0, 1e6}) {
    const double frames = std::ceil(bytes / 1056);
    // Two devices on different leaves: a node, four cables, three switches, the bytes once.
    const double expected =
        (0.336 + 4 * 0.496 + 3 * 0.318) * kMicro + (bytes + 38 * frames) / kCosts.bytes_per_second;
    for (const Sharing sharing : {Sharing::kCables, Sharing::kOwnPorts}) {
      const Outcome found = play(one_message(2, bytes), in_order(topology), sharing);
      EXPECT_NEAR(found.seconds / expected, 1, kTenthOfPercent) << bytes;
    }
  }
}

TEST(Simulate, ARingWithoutContentionIsItsClosedForm) {
  constexpr int kRanks = 32;
  constexpr std::size_t kBytes = std::size_t{1056} * kRanks * 4;
  const network::Topology topology = network::leaf_spine(1, 0, kRanks);
  const Outcome found = play(call(collectives::Operation::kAllReduce, "ring", kRanks, kBytes),
                             in_order(topology), Sharing::kCables);
  const double step = (0.336 + 2 * 0.496 + 0.318) * kMicro + 4 * 1056 / kPayloadRate;
  EXPECT_NEAR(found.seconds / (2 * (kRanks - 1) * step), 1, kTenthOfPercent);
}

TEST(Simulate, NeighboursSendAtTheSameTime) {
  constexpr int kRanks = 16;
  std::vector<Program> programs(kRanks);
  for (int rank = 0; rank < kRanks; ++rank)
    append_exchange(programs[static_cast<std::size_t>(rank)], ring_neighbours(rank, kRanks), 1056 * 100);
  const network::Topology topology = network::leaf_spine(1, 0, kRanks);
  const double expected = (0.336 + 2 * 0.496 + 0.318) * kMicro + 2 * 105600 / kPayloadRate;
  for (const Sharing sharing : {Sharing::kCables, Sharing::kOwnPorts})
    EXPECT_NEAR(play(programs, in_order(topology), sharing).seconds / expected, 1, kTenthOfPercent);
}

TEST(Simulate, NeighboursOfAGrid) {
  EXPECT_EQ(grid_neighbours(0, 2, 4), (std::vector<int>{1, 3, 4, 4}));
  EXPECT_EQ(grid_neighbours(5, 3, 3), (std::vector<int>{3, 4, 8, 2}));
  EXPECT_EQ(grid_neighbours(1, 1, 3), (std::vector<int>{2, 0}));
  EXPECT_EQ(transposed_rank(1, 3), std::vector<int>{3});
  EXPECT_TRUE(transposed_rank(4, 3).empty());
  for (int rank = 0; rank < 12; ++rank) {  // whom one sends to, sends to it
    for (const int peer : grid_neighbours(rank, 3, 4)) {
      const auto back = grid_neighbours(peer, 3, 4);
      EXPECT_TRUE(std::ranges::find(back, rank) != back.end());
    }
  }
}

TEST(Simulate, AllToAllOverOneSpineTakesWhatItsCablesCarry) {
  constexpr int kLeaf = 32;
  constexpr std::size_t kBytes = std::size_t{1056} * 64;
  const network::Topology topology = network::leaf_spine(2, 1, kLeaf);
  const auto programs = call(collectives::Operation::kAllToAll, "pairwise", 2 * kLeaf, kBytes);
  const Outcome found = play(programs, in_order(topology), Sharing::kCables);
  const double bisection = kLeaf * kLeaf * static_cast<double>(kBytes) / kPayloadRate;
  EXPECT_GE(found.seconds, bisection);
  EXPECT_NEAR(found.seconds / bisection, 1, 0.05);
  ASSERT_FALSE(found.links.empty());
  EXPECT_EQ(topology.node_name(found.links[0].out.node), "leaf 0");
  EXPECT_EQ(found.links[0].pairs, kLeaf * kLeaf);
  EXPECT_NEAR(found.links[0].busy_seconds / bisection, 1, kTenthOfPercent);
  // With as many spines as devices of a leaf nobody waits for a cable.
  const network::Topology full = network::leaf_spine(2, kLeaf, kLeaf);
  const double shared = play(programs, in_order(full), Sharing::kCables).seconds;
  const double alone = play(programs, in_order(full), Sharing::kOwnPorts).seconds;
  EXPECT_NEAR(shared / alone, 1, kTenthOfPercent);
  EXPECT_LT(shared, found.seconds / 10);
}

TEST(Simulate, AFailedCableSendsItsMessagesOverOthers) {
  const network::Topology whole = network::leaf_spine(2, 4, 4);
  const auto programs = call(collectives::Operation::kAllToAll, "pairwise", 8, 1056 * 256);
  const Outcome before = play(programs, in_order(whole), Sharing::kCables);
  const network::Topology broken = whole.without(cables_named(whole, {"leaf 0:spine 1"}));
  EXPECT_EQ(broken.cables().size(), whole.cables().size() - 1);
  const Outcome after = play(programs, in_order(broken), Sharing::kCables);
  EXPECT_GT(after.seconds, 1.3 * before.seconds);
  for (const LinkLoad& link : after.links) {
    const auto other = broken.neighbour(link.out);
    EXPECT_FALSE(broken.node_name(link.out.node) == "leaf 0" && broken.node_name(other->node) == "spine 1");
  }
  // What does not go over it is as it was: ranks 0 to 3 are on one leaf.
  const auto within = call(collectives::Operation::kAllToAll, "pairwise", 4, 1056 * 256);
  const auto of_leaf = [&](const network::Topology& topology) {
    return play(within, {topology, {0, 1, 2, 3}, kCosts}, Sharing::kCables).seconds;
  };
  EXPECT_EQ(of_leaf(broken), of_leaf(whole));
  EXPECT_THROW((void)whole.without(cables_named(whole, {"device 3:leaf 0"})), Error);
}

TEST(Simulate, BackgroundTrafficTakesItsShare) {
  // Leaf 0 has ranks 0 and 1 alone on its devices 0 and 1, all cables to the spine are shared with others.
  const network::Topology topology = network::leaf_spine(2, 1, 4);
  const std::vector<Program> programs = one_message(2, 1056 * 2000);
  Setting setting{topology, {0, 4}, kCosts};
  const double quiet = play(programs, setting, Sharing::kCables).seconds;
  double before = quiet;
  for (const double share : {0.2, 0.5, 0.8}) {
    setting.background.share = share;
    const double busy = play(programs, setting, Sharing::kCables).seconds;
    EXPECT_GE(busy, before) << share;
    EXPECT_EQ(busy, play(programs, setting, Sharing::kCables).seconds);
    EXPECT_EQ(play(programs, setting, Sharing::kOwnPorts).seconds,
              play(programs, {topology, {0, 4}, kCosts}, Sharing::kOwnPorts).seconds);
    before = busy;
  }
  EXPECT_GT(before, 1.3 * quiet);
  EXPECT_THROW((void)play(one_message(8, 1), {topology, in_order(topology).devices, kCosts, {.share = 0.5}},
                          Sharing::kCables),
               Error);
}

TEST(Simulate, ActivitiesFillTheTimeOfARank) {
  const network::Topology topology = network::pair();
  std::vector<Program> programs = one_message(2, 1e6);
  programs[0].insert(programs[0].begin(), {Kind::kWork, 0, 0, 1e-3});
  Setting setting = in_order(topology);
  setting.most_activities = 10;
  const Outcome found = play(programs, setting, Sharing::kCables);
  ASSERT_EQ(found.activities.size(), 3U);
  double of_rank[2] = {0, 0};
  for (const Activity& one : found.activities) of_rank[one.rank] += one.end - one.start;
  EXPECT_NEAR(of_rank[0], found.ends[0], 1e-12);
  EXPECT_NEAR(of_rank[1], found.ends[1], 1e-12);
  EXPECT_EQ(found.activities.back().kind, Activity::Kind::kWaitForMessage);
  setting.most_activities = 1;
  EXPECT_EQ(play(programs, setting, Sharing::kCables).left_out, 2U);
}

TEST(Simulate, NamesOfCablesThatAreNoneAreRefused) {
  const network::Topology topology = network::leaf_spine(2, 1, 2);
  EXPECT_EQ(cables_named(topology, {"leaf1:spine 0"}).size(), 1U);
  for (const char* wrong : {"leaf 0", "leaf 0:leaf 1", "leaf 0:spine 7", "", ":"})
    EXPECT_THROW((void)cables_named(topology, {wrong}), Error) << wrong;
  EXPECT_THROW((void)cables_named(topology, {"leaf 0:spine 0", "spine 0:leaf 0"}), Error);
  EXPECT_EQ(cables_named(network::leaf_spine(2, 1, 2, 2), {"leaf 0:spine 0", "spine 0:leaf 0"}).size(), 2U);
}

TEST(Simulate, PlacesAreDistinctAndAsSaid) {
  const network::Topology topology = network::leaf_spine(4, 1, 4);
  EXPECT_EQ(placed(topology, 4, 1, "packed", 1), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(placed(topology, 6, 1, "spread", 1), (std::vector<int>{0, 4, 8, 12, 1, 5}));
  EXPECT_EQ(placed(topology, 4, 2, "packed", 1), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(placed(network::ring(8), 4, 1, "spread", 1), (std::vector<int>{0, 2, 4, 6}));
  auto random = placed(topology, 16, 1, "random", 1);
  EXPECT_NE(random, placed(topology, 16, 1, "random", 2));
  std::ranges::sort(random);
  EXPECT_TRUE(std::ranges::unique(random).empty());
  EXPECT_THROW((void)placed(topology, 17, 1, "packed", 1), Error);
  EXPECT_THROW((void)placed(topology, 4, 1, "tight", 1), Error);
}

TEST(Simulate, LoopsDoTheSameSteps) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    Program program;
    while (program.size() < 60) {
      const auto length = random() % 5 + 1;
      Program body;
      for (std::size_t i = 0; i < length; ++i)
        body.push_back({Kind::kSend, 0, static_cast<int>(random() % 2), 1});
      for (auto times = random() % 6; times > 0; --times)
        program.insert(program.end(), body.begin(), body.end());
    }
    const Program looped = with_loops(program);
    EXPECT_LE(looped.size(), program.size());
    EXPECT_EQ(unrolled(looped), program);
    EXPECT_EQ(sent_by(looped).messages, static_cast<double>(program.size()));
    EXPECT_EQ(sent_by(looped).steps, static_cast<double>(program.size()));
    EXPECT_EQ(sent_by(looped).bytes, static_cast<double>(program.size()));
  }
  const Program ring = call(collectives::Operation::kAllReduce, "ring", 256, 256 * 4)[3];
  EXPECT_LT(with_loops(ring).size(), 40U);
}

TEST(Simulate, LoopsWithinLoopsTakeAllTheirTurns) {
  const Program nested{{Kind::kWork, 0, 0, 1e-6},
                       {Kind::kRepeat, 0, 1, 3},
                       {Kind::kWork, 0, 0, 1e-5},
                       {Kind::kRepeat, 0, 3, 4}};
  const network::Topology topology = network::pair();
  const Outcome found = play({nested, {}}, in_order(topology), Sharing::kCables);
  EXPECT_NEAR(found.ends[0], 4 * (3e-6 + 1e-5), 1e-12);
  EXPECT_EQ(found.ends[1], 0);
}

TEST(Simulate, WhoWaitsForNobodyIsNamed) {
  const network::Topology topology = network::pair();
  auto programs = one_message(2, 8);
  programs[0].clear();
  try {
    (void)play(programs, in_order(topology), Sharing::kCables);
    FAIL() << "nobody noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), "rank 1 waits in step 1 for a message of rank 0, which sends none");
  }
}

TEST(Simulate, WhoWaitsForNobodyIsNamedDespiteBackgroundTraffic) {
  const network::Topology topology = network::leaf_spine(1, 0, 8);
  auto programs = one_message(2, 8);
  programs[0].push_back({Kind::kReceive, 0, 1, 0});
  programs[0].push_back({Kind::kWait, 0, 0, 0});
  EXPECT_THROW((void)play(programs, {topology, {0, 1}, kCosts, {.share = 0.5}}, Sharing::kCables), Error);
}

TEST(Simulate, CircuitsLeadToNeighboursOnly) {
  Costs circuits = kCosts;
  circuits.only_neighbours_talk = true;
  const network::Topology ring = network::ring(4);
  EXPECT_NO_THROW((void)play(call(collectives::Operation::kAllReduce, "ring", 4, 64),
                             in_order(ring, circuits), Sharing::kCables));
  EXPECT_THROW((void)play(call(collectives::Operation::kAllToAll, "pairwise", 4, 64),
                          in_order(ring, circuits), Sharing::kCables),
               Error);
}

TEST(Simulate, AFatTreeWithoutOversubscriptionHoldsNobodyUp) {
  const network::Topology topology = network::fat_tree(4);
  EXPECT_EQ(topology.devices(), 16);
  EXPECT_EQ(topology.switches(), 20);
  EXPECT_EQ(topology.distance(0, 15), 6);
  EXPECT_EQ(topology.distance(0, 2), 4);
  EXPECT_EQ(topology.distance(0, 1), 2);
  // The shift by half of the devices crosses the cores, and takes each cable upwards once.
  std::vector<Program> programs(16);
  for (int rank = 0; rank < 16; ++rank) {
    programs[static_cast<std::size_t>(rank)] = {{Kind::kSend, 0, (rank + 8) % 16, 1e6},
                                                {Kind::kReceive, 1, (rank + 8) % 16, 0},
                                                {Kind::kWait, 0, 0, 0},
                                                {Kind::kWait, 1, 0, 0}};
  }
  const Outcome found = play(programs, in_order(topology), Sharing::kCables);
  for (const LinkLoad& link : found.links) EXPECT_EQ(link.pairs, 1U);
  EXPECT_EQ(found.seconds, play(programs, in_order(topology), Sharing::kCables).seconds);
}

TEST(Simulate, ADragonflyHasACableBetweenAnyTwoGroups) {
  for (const auto& [groups, routers, devices] : {std::tuple(9, 4, 2), {5, 2, 3}, {2, 3, 1}, {3, 1, 2}}) {
    const network::Topology topology = network::dragonfly(groups, routers, devices);
    EXPECT_EQ(topology.devices(), groups * routers * devices);
    EXPECT_EQ(topology.cables().size(),
              static_cast<std::size_t>(topology.devices() + groups * routers * (routers - 1) / 2 +
                                       groups * (groups - 1) / 2));
    for (int device = 0; device < topology.devices(); ++device)
      EXPECT_LE(topology.distance(0, device), 5);  // two to routers, one in each group, one between them
  }
}

}  // namespace

}  // namespace fabricmark::simulate
