#include "network/packet_network.hpp"

#include <cmath>
#include <tuple>
#include <vector>

#include "packet_support.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::alone;
using test::kByte;
using test::kRate;
using test::mentions;
using test::message_of;
using test::Network;

PacketCosts costs(Forwarding forwarding) {
  return {.node_latency = 1000 * kByte,
          .cable_latency = 100 * kByte,
          .switch_latency = 10 * kByte,
          .bytes_per_second = kRate,
          .header_bytes = 4,
          .mtu_bytes = 64,
          .forwarding = forwarding};
}

TEST(PacketNetwork, StoresAndForwardsAPacketOverAnyNumberOfHops) {
  for (int hops = 1; hops <= 4; ++hops) {
    // Each device starts or passes on (1000), each cable (100) carries 60 + 4 bytes from end to end.
    EXPECT_EQ(alone(ring(8), costs(Forwarding::kStoreAndForward), 0, hops, 60),
              hops * (1000 + 100 + 64) * kByte);
  }
  // Two cables and a switch; four cables and three switches.
  EXPECT_EQ(alone(leaf_spine(2, 2, 2), costs(Forwarding::kStoreAndForward), 0, 1, 60),
            (1000 + 2 * 164 + 10) * kByte);
  EXPECT_EQ(alone(leaf_spine(2, 2, 2), costs(Forwarding::kStoreAndForward), 0, 3, 60),
            (1000 + 4 * 164 + 3 * 10) * kByte);
}

TEST(PacketNetwork, CutsThroughAfterTheHeader) {
  for (int hops = 1; hops <= 4; ++hops) {
    EXPECT_EQ(alone(ring(8), costs(Forwarding::kCutThrough), 0, hops, 60),
              (hops * (1000 + 100) + 64) * kByte);
  }
  EXPECT_EQ(alone(leaf_spine(2, 2, 2), costs(Forwarding::kCutThrough), 0, 3, 60),
            (1000 + 400 + 30 + 64) * kByte);
  // A switch faster than the header waits for it.
  PacketCosts fast = costs(Forwarding::kCutThrough);
  fast.switch_latency = 0;
  EXPECT_EQ(alone(leaf_spine(2, 2, 2), fast, 0, 3, 60), (1000 + 400 + 3 * 4 + 64) * kByte);
}

TEST(PacketNetwork, PacketsOfAMessageFollowEachOther) {
  // 64 + 64 + 22 bytes: 68, 68 and 26 on the wire. The last cable is reached after one hop of the first.
  EXPECT_EQ(alone(pair(), costs(Forwarding::kCutThrough), 0, 1, 150), (1100 + 162) * kByte);
  EXPECT_EQ(alone(ring(8), costs(Forwarding::kCutThrough), 0, 2, 150), (2200 + 162) * kByte);
  // Stored: the second cable begins after 68 and has 162 to carry, without a gap.
  EXPECT_EQ(alone(ring(8), costs(Forwarding::kStoreAndForward), 0, 2, 150), (2200 + 68 + 162) * kByte);
  // A single packet of all bytes.
  PacketCosts whole = costs(Forwarding::kCutThrough);
  whole.mtu_bytes = 0;
  EXPECT_EQ(alone(pair(), whole, 0, 1, 150), (1100 + 154) * kByte);
  EXPECT_EQ(alone(pair(), whole, 0, 1, 0), (1100 + 4) * kByte);
}

TEST(PacketNetwork, CountsPackets) {
  Network made(pair(), costs(Forwarding::kCutThrough));
  EXPECT_EQ(made.network->packets_of(0), 1U);
  EXPECT_EQ(made.network->packets_of(64), 1U);
  EXPECT_EQ(made.network->packets_of(65), 2U);
  made.time_of(0, 1, 150);
  const PortCounters& out = made.network->counters({0, 0});
  EXPECT_EQ(out.packets, 3U);
  EXPECT_EQ(out.bytes, 162U);
  EXPECT_EQ(out.busy, 162 * kByte);
  EXPECT_EQ(made.network->counters({1, 0}).packets, 0U);
  EXPECT_EQ(made.delivered.front().packets, 3U);
  EXPECT_EQ(made.delivered.front().lost, 0U);
}

/// Mondigo 2020, Table 4.2 and section 4.3.2: 40 GbE over switches, and Serial Lite III from board to board.
/// The rate of long messages is that of their payload, so that the wire is as much faster as headers take.
struct Published {
  double node;
  double cable;
  double switching;
  double bytes_per_second;
};
constexpr Published kEthernet{
    .node = 0.336e-6, .cable = 0.496e-6, .switching = 0.318e-6, .bytes_per_second = 4.41e9};
constexpr Published kSerial{.node = 0.245e-6, .cable = 0.354e-6, .switching = 0, .bytes_per_second = 4.29e9};

PacketCosts costs(const Published& of, double header, double payload) {
  return {.node_latency = from_seconds(of.node),
          .cable_latency = from_seconds(of.cable),
          .switch_latency = from_seconds(of.switching),
          .bytes_per_second = of.bytes_per_second * (payload + header) / payload,
          .header_bytes = static_cast<std::uint64_t>(header),
          .mtu_bytes = static_cast<std::uint64_t>(payload)};
}

/// Equations 4.2 to 4.6: a start, cables, switches, and the message once.
double closed_form(const Published& of, const Hops& hops, double bytes) {
  return of.node * (1 + hops.devices) + of.cable * hops.cables + of.switching * hops.switches +
         bytes / of.bytes_per_second;
}

void expect_closed_form(const Topology& topology, const Published& of, const PacketCosts& used) {
  for (int to = 1; to < topology.devices(); ++to) {
    for (const double bytes : {0.0, 1.0, 1056.0, 1057.0, 4096.0, 1048576.0}) {
      const double expected = closed_form(of, topology.hops(0, to), bytes);
      const double found = seconds(alone(topology, used, 0, to, static_cast<std::uint64_t>(bytes)));
      EXPECT_NEAR(found, expected, 0.01 * expected)
          << topology.name() << " to " << to << ", " << bytes << " B";
    }
  }
}

TEST(PacketNetwork, AgreesWithTheClosedFormOfSwitchHops) {
  expect_closed_form(leaf_spine(2, 2, 2), kEthernet, costs(kEthernet, 38, 1056));
  expect_closed_form(leaf_spine(1, 0, 4), kEthernet, costs(kEthernet, 38, 1056));
}

TEST(PacketNetwork, AgreesWithTheClosedFormOfTorusHops) {
  expect_closed_form(torus(4, 4), kSerial, costs(kSerial, 0, 1056));
  expect_closed_form(ring(8), kSerial, costs(kSerial, 0, 1056));
}

/// A ring that is cut open at its first device, so that a message passes all legs; `switches`: between two
/// devices, by leg.
Topology opened_ring(const std::vector<int>& switches) {
  std::vector<Cable> cables;
  const int legs = static_cast<int>(switches.size());
  int next = legs + 1;  // behind the devices
  for (int leg = 0; leg < legs; ++leg) {
    Port from{leg, 1};
    for (int i = 0; i < switches[static_cast<std::size_t>(leg)]; ++i, ++next) {
      cables.push_back({from, {next, 0}});
      from = {next, 1};
    }
    cables.push_back({from, {leg + 1, 0}});
  }
  return {"opened ring", legs + 1, next - legs - 1, cables};
}

/// Mondigo 2020, section 4.3.3: once around a ring of boards, over cables or over switches with 64 ports.
TEST(PacketNetwork, AgreesWithThePublishedTimesOfRings) {
  struct Row {
    int boards;
    double bytes;
    double serial;  // us
    double ethernet;
  };
  constexpr double kOcean = 7430699.0 * 32;
  constexpr Row kRows[] = {
      {2, 1 << 20, 245.6, 241.1},   {16, 1 << 20, 254.0, 264.1}, {64, 1 << 20, 282.8, 343.1},
      {128, 1 << 20, 321.1, 455.0}, {2, 4096, 2.15, 4.22},       {16, 4096, 10.54, 27.27},
      {64, 4096, 39.29, 106.27},    {128, 4096, 77.63, 218.1},   {2, kOcean, 55428, 53922}};
  constexpr int kPorts = 64;
  for (const Row& row : kRows) {
    std::vector<int> switches(static_cast<std::size_t>(row.boards), 0);
    const auto around = [&](const PacketCosts& used) {
      return 1e6 * seconds(alone(opened_ring(switches), used, 0, row.boards,
                                 static_cast<std::uint64_t>(row.bytes)));
    };
    EXPECT_NEAR(around(costs(kSerial, 0, 1056)) / row.serial, 1, 0.01) << row.boards << ' ' << row.bytes;
    for (std::size_t leg = 0; leg < switches.size(); ++leg) {
      const bool leaves = row.boards > kPorts && (leg + 1) % (kPorts / 2) == 0;
      switches[leg] = leaves ? 3 : 1;
    }
    EXPECT_NEAR(around(costs(kEthernet, 38, 1056)) / row.ethernet, 1, 0.01) << row.boards << ' ' << row.bytes;
  }
}

TEST(PacketNetwork, TheComparisonSeesAWrongLatency) {
  Published wrong = kEthernet;
  wrong.switching *= 1.2;
  const Hops hops{.cables = 4, .switches = 3, .devices = 0};
  const double expected = closed_form(kEthernet, hops, 1056);
  const double found = seconds(alone(leaf_spine(2, 2, 2), costs(wrong, 38, 1056), 0, 3, 1056));
  EXPECT_GT(std::abs(found - expected), 0.01 * expected);
}

TEST(PacketNetwork, TimesFollowLatenciesAndRates) {
  for (const Forwarding forwarding : {Forwarding::kCutThrough, Forwarding::kStoreAndForward}) {
    const auto time = [&](const PacketCosts& used) { return alone(leaf_spine(2, 2, 2), used, 0, 3, 1000); };
    const PacketCosts before = costs(forwarding);
    PacketCosts changed = before;
    changed.node_latency *= 2;
    EXPECT_EQ(time(changed) - time(before), before.node_latency);
    changed = before;
    changed.cable_latency *= 2;
    EXPECT_EQ(time(changed) - time(before), 4 * before.cable_latency);
    changed = before;
    changed.switch_latency *= 2;
    EXPECT_EQ(time(changed) - time(before), 3 * before.switch_latency);
    changed = before;
    changed.bytes_per_second /= 2;
    // 16 packets, 1064 bytes; stored ones pass three more cables, 68 bytes each.
    const Time carried = (1064 + (forwarding == Forwarding::kStoreAndForward ? 3 * 68 : 0)) * kByte;
    EXPECT_EQ(time(changed) - time(before), carried);
  }
}

TEST(PacketNetwork, ADeviceReachesItselfOverALoopOrAtOnce) {
  EXPECT_EQ(alone(ring(1), costs(Forwarding::kCutThrough), 0, 0, 60), (1100 + 64) * kByte);
  EXPECT_EQ(alone(pair(), costs(Forwarding::kCutThrough), 1, 1, 60), 1000 * kByte);
}

TEST(PacketNetwork, TellsWhenAMessageHasLeftItsDevice) {
  for (const Buffering buffering : {Buffering::kUnlimited, Buffering::kCredits, Buffering::kDrop}) {
    const Topology topology = ring(4);
    PacketCosts used = costs(Forwarding::kCutThrough);
    used.buffering = buffering;
    used.buffer_bytes = 1000;
    std::vector<std::tuple<Time, int, std::uint64_t>> left;
    PacketNetwork network(
        topology, used, [](const Delivery&) {},
        [&](const Departure& one) { left.emplace_back(one.time, one.device, one.id); });
    network.inject(0, 0, 2, 150, 7);  // over 1, which does not send it itself
    network.inject(1, 0, 1, 0, 8);
    network.inject(0, 3, 3, 60, 9);  // to itself, without a loop
    network.advance_until(kEndOfTime);
    const std::vector<std::tuple<Time, int, std::uint64_t>> expected{
        {1000 * kByte, 3, 9}, {1162 * kByte, 0, 7}, {1166 * kByte, 0, 8}};
    EXPECT_EQ(left, expected);
  }
}

TEST(PacketNetwork, TheFirstPortMayBeChosen) {
  Network made(ring(5), costs(Forwarding::kCutThrough));
  made.network->inject(0, 0, 2, 60, 7, 1);  // the long way: over 4 and 3
  made.run();
  EXPECT_EQ(made.delivered.front().time, (3 * 1100 + 64) * kByte);
  EXPECT_EQ(made.network->counters({0, 1}).packets, 1U);
  Network back(ring(8), costs(Forwarding::kCutThrough));
  back.network->inject(0, 0, 2, 60, 7, 1);  // 7 sends it back
  back.run();
  EXPECT_EQ(back.delivered.front().time, (4 * 1100 + 64) * kByte);
  EXPECT_EQ(back.network->counters({0, 0}).packets, 1U);
}

TEST(PacketNetwork, RefusesWhatCannotBeSent) {
  Network made(ring(4), costs(Forwarding::kCutThrough));
  EXPECT_TRUE(mentions(message_of([&] { made.network->inject(0, 4, 0, 1, 0); }), "no device 4"));
  message_of([&] { made.network->inject(0, 0, -1, 1, 0); });
  EXPECT_TRUE(mentions(message_of([&] { made.network->inject(0, 0, 1, 1, 0, 2); }),
                       "port 2 of device 0 has no cable"));
  message_of([&] { made.network->inject(0, 0, 1, std::uint64_t{1} << 60U, 0); });
  message_of([&] { made.network->inject(kEndOfTime - 1, 0, 1, 1, 0); });
  made.network->inject(5000 * kByte, 0, 1, 1, 0);
  made.run();
  EXPECT_TRUE(
      mentions(message_of([&] { made.network->inject(0, 2, 3, 1, 9); }), "message 9 of device 2 at 0 s"));
  for (const double rate : {0.0, -1.0, std::nan("")}) {
    PacketCosts wrong = costs(Forwarding::kCutThrough);
    wrong.bytes_per_second = rate;
    message_of([&] { Network(pair(), wrong); });
  }
  PacketCosts small = costs(Forwarding::kCutThrough);
  small.buffering = Buffering::kDrop;
  small.buffer_bytes = 67;  // a packet has 68
  EXPECT_TRUE(mentions(message_of([&] { Network(pair(), small); }), "buffers of 67 B"));
  small.buffer_bytes = 68;
  Network(pair(), small).time_of(0, 1, 1);
  small.mtu_bytes = 0;
  message_of([&] { Network(pair(), small); });
  PacketCosts negative = costs(Forwarding::kCutThrough);
  negative.cable_latency = -1;
  message_of([&] { Network(pair(), negative); });
}

}  // namespace

}  // namespace fabricmark::network
