// What protocols do about one packet that is lost, and about devices that are dead.
#include <algorithm>
#include <set>

#include "network/stack/packet_faults.hpp"
#include "packet_support.hpp"
#include "stack_support.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::kByte;
using test::kRate;
using test::StackRun;

StackSettings faulty(Protocol protocol, const PacketFaults& faults) {
  return {.protocol = protocol,
          .costs = {.node_latency = 1000 * kByte,
                    .cable_latency = 100 * kByte,
                    .bytes_per_second = kRate,
                    .header_bytes = 4,
                    .mtu_bytes = 64},
          .window_bytes = 1 << 20,
          .faults = faults};
}
/// Of a full packet alone: from its start until it has come, and until it is acknowledged.
constexpr Time kWay = (1000 + 100 + 68) * kByte;
constexpr Time kRoundTrip = kWay + (1000 + 100 + 4) * kByte;
constexpr Time kPatience = 4 * kRoundTrip;  // what protocols wait by themselves

/// Faults that drop these of the first packets from device 0 to 1, and nothing else of what they and their
/// acknowledgements are.
PacketFaults that_drop(const std::set<std::uint64_t>& numbers) {
  constexpr std::uint64_t kPackets = 40;
  PacketFaults faults{.drop = 0.03};
  for (;; ++faults.seed) {
    bool is_found = true;
    for (std::uint64_t i = 0; i < kPackets && is_found; ++i) {
      is_found = fate_of(faults, 0, 1, false, i).is_dropped == numbers.contains(i) &&
                 !fate_of(faults, 1, 0, true, i).is_dropped;
    }
    if (is_found) return faults;
  }
}

TEST(PacketFaults, AreShares) {
  const PacketFaults faults{.seed = 7, .drop = 0.1, .duplicate = 0.2, .reorder = 0.3};
  constexpr int kDraws = 100000;
  int dropped = 0;
  int doubled = 0;
  int late = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const PacketFate fate = fate_of(faults, 3, 4, false, i);
    dropped += fate.is_dropped ? 1 : 0;
    doubled += fate.is_doubled ? 1 : 0;
    late += fate.delay > 0 ? 1 : 0;
    EXPECT_EQ(fate.is_doubled, fate.copy_delay > 0);
  }
  EXPECT_NEAR(dropped, 0.1 * kDraws, 0.005 * kDraws);
  EXPECT_NEAR(doubled, 0.2 * 0.9 * kDraws, 0.005 * kDraws);
  EXPECT_NEAR(late, 0.3 * 0.9 * kDraws, 0.005 * kDraws);
}

TEST(UdpLosses, AreToldWithTheNextPacketOfTheFlow) {
  StackRun run(pair(), faulty(Protocol::kUdp, that_drop({2})));
  run.send({0, 0, 1, 5, 640});
  run.run();
  ASSERT_EQ(run.arrived.size(), 10U);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Stack::Arrival& one = run.arrived[i];
    EXPECT_EQ(one.offset, 64 * i);
    EXPECT_EQ(one.bytes, 64U);
    EXPECT_EQ(one.is_lost, i == 2);
    EXPECT_EQ(one.is_last, i == 9);
    EXPECT_EQ(one.time, kWay + static_cast<Time>(i == 2 ? 3 : i) * 68 * kByte);
  }
  EXPECT_EQ(run.stack->counters().lost, 1U);
  EXPECT_EQ(run.stack->counters().lost_bytes, 64U);
}

TEST(UdpLosses, AtTheEndAreToldAfterATime) {
  for (const Time set : {Time{0}, 77 * kByte}) {
    StackSettings settings = faulty(Protocol::kUdp, that_drop({9}));
    settings.retransmission_time = set;
    StackRun run(pair(), settings);
    run.send({0, 0, 1, 5, 640});
    run.run();
    ASSERT_EQ(run.arrived.size(), 10U);
    const Stack::Arrival& last = run.arrived.back();
    EXPECT_TRUE(last.is_lost);
    EXPECT_TRUE(last.is_last);
    EXPECT_EQ(last.time, kWay + 9 * 68 * kByte + (set == 0 ? kPatience : set));
    // A message behind it tells sooner.
    StackRun two(pair(), settings);
    two.send({0, 0, 1, 5, 640});
    two.send({0, 0, 1, 6, 0});
    two.run();
    EXPECT_EQ(two.arrived.back().id, 6U);
    EXPECT_EQ(two.arrived.back().time, kWay + (9 * 68 + 4) * kByte);
  }
}

TEST(UdpLosses, WaitForWhatIsOnItsWay) {
  // The second packet is lost and given up before the first one has come, which is late.
  PacketFaults faults{.drop = 0.3, .reorder = 0.3};
  const auto fate = [&](std::uint64_t number) { return fate_of(faults, 0, 1, false, number); };
  while (fate(0).delay < 4 || !fate(1).is_dropped) ++faults.seed;
  StackSettings settings = faulty(Protocol::kUdp, faults);
  settings.retransmission_time = kByte;
  StackRun run(pair(), settings);
  run.send({0, 0, 1, 5, 128});
  run.run();
  ASSERT_EQ(run.arrived.size(), 2U);
  EXPECT_FALSE(run.arrived[0].is_lost);
  EXPECT_TRUE(run.arrived[1].is_lost);
  EXPECT_EQ(run.arrived[0].time, kWay + fate(0).delay * 68 * kByte);
  EXPECT_EQ(run.arrived[1].time, run.arrived[0].time);
}

TEST(UdpLosses, AreCountedExactly) {
  const PacketFaults faults{.seed = 3, .drop = 0.1};
  StackRun run(pair(), faulty(Protocol::kUdp, faults));
  std::uint64_t sent_bytes = 0;
  std::uint64_t lost = 0;
  std::uint64_t lost_bytes = 0;
  std::uint64_t number = 0;
  for (std::uint64_t id = 0; id < 50; ++id) {
    const std::uint64_t bytes = id * 13;
    run.send({static_cast<Time>(id) * 500 * kByte, 0, 1, id, bytes});
    sent_bytes += bytes;
    for (std::uint64_t at = 0; at < std::max<std::uint64_t>(bytes, 1); at += 64) {
      if (!fate_of(faults, 0, 1, false, number++).is_dropped) continue;
      ++lost;
      lost_bytes += std::min<std::uint64_t>(64, bytes - at);
    }
  }
  run.run();
  const Stack::Counters& counters = run.stack->counters();
  EXPECT_GT(lost, 10U);
  EXPECT_EQ(counters.packets, number);
  EXPECT_EQ(counters.lost, lost);
  EXPECT_EQ(counters.lost_bytes, lost_bytes);
  std::uint64_t come = 0;
  std::uint64_t told_lost = 0;
  for (const Stack::Arrival& one : run.arrived) (one.is_lost ? told_lost : come) += one.bytes;
  EXPECT_EQ(told_lost, lost_bytes);
  EXPECT_EQ(come + told_lost, sent_bytes);
  // Nothing comes back, and nobody sends again.
  EXPECT_EQ(counters.acknowledgements + counters.retransmitted, 0U);
  EXPECT_EQ(run.stack->network().counters({1, 0}).packets, 0U);
}

TEST(UdpLosses, ForWantOfRoomAreThoseOfTheNetwork) {
  StackSettings settings = faulty(Protocol::kUdp, {});
  settings.costs.buffering = Buffering::kDrop;
  settings.costs.buffer_bytes = 5 * 68;
  StackRun run(leaf_spine(1, 0, 4), settings);
  for (int from = 1; from < 4; ++from) run.send({0, from, 0, 1, 6400});
  run.run();
  const Stack::Counters& counters = run.stack->counters();
  EXPECT_GT(counters.lost, 100U);
  EXPECT_EQ(counters.lost, run.stack->network().lost_packets());
  EXPECT_EQ(counters.lost_bytes, counters.lost * 64);
  std::uint64_t come = 0;
  for (const Stack::Arrival& one : run.arrived) come += one.is_lost ? 0 : one.bytes;
  EXPECT_EQ(come + counters.lost_bytes, 3 * 6400U);
}

TEST(Retransmission, TcpRepairsAGapAfterThreeDuplicates) {
  StackRun run(pair(), faulty(Protocol::kTcp, that_drop({2})));
  run.send({0, 0, 1, 5, 640});
  run.run();
  EXPECT_EQ(run.stack->counters().retransmitted, 1U);
  EXPECT_EQ(run.stack->counters().packets, 11U);
  EXPECT_EQ(run.stack->counters().duplicates, 0U);
  // 3, 4 and 5 say that 2 is missing; what waited for it comes with it.
  const Time third = kWay + 5 * 68 * kByte + 1104 * kByte;
  ASSERT_EQ(run.arrived.size(), 3U);
  EXPECT_EQ(run.arrived.back().time, third + kWay);
  EXPECT_EQ(run.arrived.back().bytes, 8 * 64U);
  EXPECT_EQ(run.completed.back().time, third + kWay + 1104 * kByte);
}

TEST(Retransmission, TcpRepairsTheNextGapWithTheAcknowledgementOfTheFirst) {
  StackRun run(pair(), faulty(Protocol::kTcp, that_drop({2, 4})));
  run.send({0, 0, 1, 5, 640});
  run.run();
  EXPECT_EQ(run.stack->counters().retransmitted, 2U);
  const Time third = kWay + 6 * 68 * kByte + 1104 * kByte;
  EXPECT_EQ(run.arrived.back().time, third + kRoundTrip + kWay);
  EXPECT_EQ(run.arrived.back().bytes, 6 * 64U);
}

TEST(Retransmission, TcpTakesNoRoundTripOfWhatItSentTwice) {
  // The time-out of the first packet is no measure of the way: the second one waits no longer for its own.
  StackRun run(pair(), faulty(Protocol::kTcp, that_drop({0, 2})));
  run.send({0, 0, 1, 5, 64});
  run.send({100 * kRoundTrip, 0, 1, 6, 64});
  run.run();
  ASSERT_EQ(run.arrived.size(), 2U);
  EXPECT_EQ(run.arrived[0].time, 1068 * kByte + kPatience + kWay);
  EXPECT_EQ(run.arrived[1].time, 100 * kRoundTrip + 1068 * kByte + kPatience + kWay);
}

TEST(Retransmission, NothingOvertakesWhatAnAcknowledgementReleased) {
  StackSettings settings = faulty(Protocol::kTcp, {});
  settings.window_bytes = 3 * 64;
  StackRun run(pair(), settings);
  run.send({0, 0, 1, 1, 4 * 64});
  // The fourth packet passes the device from here on; the next message is there before it has.
  const Time released = kRoundTrip;
  run.send({released + 100 * kByte - 1000 * kByte, 0, 1, 2, 64});
  run.run();
  ASSERT_EQ(run.arrived.size(), 5U);
  EXPECT_EQ(run.arrived[3].time, released + kWay);
  EXPECT_EQ(run.arrived[4].time, released + kWay + 68 * kByte);
}

TEST(Retransmission, TcpRepairsTheEndAfterATimeOut) {
  StackRun run(pair(), faulty(Protocol::kTcp, that_drop({9})));
  run.send({0, 0, 1, 5, 640});
  run.run();
  EXPECT_EQ(run.stack->counters().retransmitted, 1U);
  // The timer begins again with each acknowledgement; the last is that of packet 8.
  const Time last = kWay + 8 * 68 * kByte + 1104 * kByte;
  EXPECT_GE(run.arrived.back().time, last + kPatience + kWay);
  EXPECT_LE(run.arrived.back().time, last + 2 * kPatience + kWay);
}

TEST(Retransmission, RdmaGoesBackToTheGap) {
  StackRun run(pair(), faulty(Protocol::kRdma, that_drop({2})));
  run.send({0, 0, 1, 5, 640});
  run.run();
  // Packet 3 complains; by then all have left, and are sent again from 2 on.
  const Time complaint = kWay + 3 * 68 * kByte + 1104 * kByte;
  EXPECT_EQ(run.stack->counters().early, 7U);
  EXPECT_EQ(run.stack->counters().retransmitted, 8U);
  EXPECT_EQ(run.stack->counters().acknowledgements, 2U);
  EXPECT_EQ(run.arrived.back().time, complaint + kWay + 7 * 68 * kByte);
  ASSERT_EQ(run.arrived.size(), 10U);
}

TEST(Retransmission, RdmaRepairsTheEndAfterATimeOut) {
  StackRun run(pair(), faulty(Protocol::kRdma, that_drop({9})));
  run.send({0, 0, 1, 5, 640});
  run.run();
  const Time left = 1000 * kByte + 10 * 68 * kByte;
  // From the first that is not acknowledged on: all of the message.
  EXPECT_EQ(run.stack->counters().retransmitted, 10U);
  EXPECT_EQ(run.stack->counters().duplicates, 9U);
  EXPECT_EQ(run.arrived.back().time, left + kPatience + kWay + 9 * 68 * kByte);
}

TEST(DeadPeers, FailWhatWasSentToThemInATimeThatIsKnown) {
  for (const Protocol protocol : {Protocol::kTcp, Protocol::kRdma}) {
    for (const Time set : {Time{0}, 5000 * kByte}) {
      StackSettings settings = faulty(protocol, {});
      settings.retransmission_time = set;
      settings.most_retransmissions = 3;
      StackRun run(leaf_spine(1, 0, 3), settings);
      run.stack->kill(0, 1);
      run.send({0, 0, 1, 1, 60});
      run.send({0, 0, 2, 2, 60});
      run.send({10, 0, 1, 3, 60});
      run.run();
      ASSERT_EQ(run.completed.size(), 3U);
      EXPECT_FALSE(run.completed[0].has_failed);
      EXPECT_EQ(run.completed[0].id, 2U);
      // Twice as long each time, from when the packet has left; the way is two cables here.
      const Time wait = set > 0 ? set : kPatience + 4 * 200 * kByte;
      for (const std::size_t i : {1U, 2U}) {
        EXPECT_TRUE(run.completed[i].has_failed);
        EXPECT_EQ(run.completed[i].id, i == 1 ? 1U : 3U);
        EXPECT_GE(run.completed[i].time, (1 + 2 + 4 + 8) * wait);
        EXPECT_LE(run.completed[i].time, (1 + 2 + 4 + 8) * wait + 4 * 3 * 1064 * kByte);
      }
      // What comes later fails at once.
      const Time later_on = run.completed.back().time + kByte;
      run.send({later_on, 0, 1, 4, 60});
      run.run();
      EXPECT_TRUE(run.completed.back().has_failed);
      EXPECT_EQ(run.completed.back().time, later_on + 1000 * kByte);
      for (const Stack::Arrival& one : run.arrived) EXPECT_EQ(one.to, 2);
    }
  }
}

TEST(DeadPeers, AreFoundInTheMiddleOfAMessage) {
  for (const Protocol protocol : {Protocol::kTcp, Protocol::kRdma}) {
    for (const double drop : {0.0, 0.05}) {
      StackSettings settings = faulty(protocol, {.drop = drop});
      settings.window_bytes = 1000;
      settings.burst_bytes = 200;
      StackRun run(pair(), settings);
      run.send({0, 0, 1, 1, 64000});
      const Time death = 20 * kRoundTrip;
      run.stack->kill(death, 1);
      run.run();
      ASSERT_EQ(run.completed.size(), 1U);
      EXPECT_TRUE(run.completed.front().has_failed);
      EXPECT_GT(run.arrived.size(), 10U);
      EXPECT_FALSE(run.arrived.back().is_last);
      EXPECT_LT(run.arrived.back().time, death);
      EXPECT_LT(run.completed.front().time, death + 512 * 4 * kPatience);
      EXPECT_EQ(run.stack->next_time(), kEndOfTime);
    }
  }
}

TEST(DeadPeers, NobodyTellsASenderOfUdp) {
  StackRun run(pair(), faulty(Protocol::kUdp, {}));
  run.stack->kill(0, 1);
  run.send({0, 0, 1, 1, 640});
  run.run();
  EXPECT_TRUE(run.arrived.empty());
  ASSERT_EQ(run.completed.size(), 1U);
  EXPECT_FALSE(run.completed.front().has_failed);
}

TEST(DeadPeers, SendNothingAnyMore) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    StackSettings settings = faulty(protocol, {});
    settings.window_bytes = 256;
    settings.burst_bytes = 0;
    StackRun run(pair(), settings);
    run.send({0, 0, 1, 1, 6400});
    run.send({60 * kRoundTrip, 0, 1, 2, 640});
    const Time death = 1000 * kByte + 10 * 68 * kByte;
    run.stack->kill(death, 0);
    run.run();
    EXPECT_EQ(run.stack->counters().messages, 1U);
    EXPECT_LE(run.stack->counters().packets, 12U);
    EXPECT_TRUE(run.completed.empty());
    std::uint64_t come = 0;
    std::uint64_t lost = 0;
    for (const Stack::Arrival& one : run.arrived) (one.is_lost ? lost : come) += one.bytes;
    EXPECT_EQ(come, run.stack->counters().packets * 64);
    // Without acknowledgements nobody but the receiver notices, which waits in vain.
    EXPECT_EQ(lost, protocol == Protocol::kUdp ? 6400 - come : 0);
    if (protocol == Protocol::kUdp) {
      EXPECT_EQ(run.arrived.back().time, death + kPatience);
    }
  }
}

}  // namespace

}  // namespace fabricmark::network
