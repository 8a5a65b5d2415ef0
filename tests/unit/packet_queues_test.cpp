// Packets that want the same cable: who goes first, what is lost, and who waits.
#include "packet_support.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::kByte;
using test::kRate;
using test::Network;

/// Packets of 10 bytes without header, and no latencies: a packet takes 10 ns for each cable.
PacketCosts plain(Buffering buffering = Buffering::kUnlimited, std::uint64_t packets = 0) {
  return {.bytes_per_second = kRate,
          .mtu_bytes = 10,
          .forwarding = Forwarding::kStoreAndForward,
          .buffering = buffering,
          .buffer_bytes = packets * 10};
}

std::vector<std::uint64_t> ids(const Network& made) {
  std::vector<std::uint64_t> found;
  for (const Delivery& one : made.delivered) found.push_back(one.id);
  return found;
}

TEST(PacketQueues, TwoSendersShareACable) {
  Network made(leaf_spine(1, 0, 3), plain());
  made.network->inject(0, 0, 2, 100, 1);
  made.network->inject(0, 1, 2, 100, 2);
  made.run();
  // The switch has a packet of each from 10 ns on and sends them interleaved; it has 20 in all.
  ASSERT_EQ(ids(made), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(made.delivered[0].time, (10 + 19 * 10) * kByte);
  EXPECT_EQ(made.delivered[1].time, (10 + 20 * 10) * kByte);
  const PortCounters& out = made.network->counters({3, 2});
  EXPECT_EQ(out.busy, 200 * kByte);
  // Ten have come of each, and nine have left.
  EXPECT_EQ(out.largest_queue_bytes, 110U);
}

TEST(PacketQueues, FirstComesFirst) {
  for (const std::uint64_t later_one : {1U, 2U}) {
    Network made(leaf_spine(1, 0, 3), plain());
    made.network->inject(later_one == 1 ? 1 : 0, 0, 2, 10, 1);
    made.network->inject(later_one == 2 ? 1 : 0, 1, 2, 10, 2);
    made.run();
    EXPECT_EQ(ids(made),
              later_one == 1 ? (std::vector<std::uint64_t>{2, 1}) : (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(made.delivered[0].time, 20 * kByte);
    EXPECT_EQ(made.delivered[1].time, 30 * kByte);
  }
}

TEST(PacketQueues, OfOneTimeTheLowestInputPortGoesFirst) {
  Network made(leaf_spine(1, 0, 5), plain());
  for (const int from : {3, 1, 0, 2}) made.network->inject(0, from, 4, 10, static_cast<std::uint64_t>(from));
  made.run();
  EXPECT_EQ(ids(made), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(PacketQueues, MessagesOfADeviceGoInTheOrderOfTheirTimesThenIds) {
  Network made(pair(), plain());
  made.network->inject(0, 0, 1, 40, 9);
  made.network->inject(0, 0, 1, 10, 3);
  made.network->inject(5, 0, 1, 10, 1);
  made.run();
  EXPECT_EQ(ids(made), (std::vector<std::uint64_t>{3, 9, 1}));
  EXPECT_EQ(made.delivered[2].time, 60 * kByte);
}

TEST(PacketQueues, ALongMessageLetsOthersThrough) {
  // Device 1 sends 1000 packets over the cable that leads from 0 to 2, too.
  Network made(ring(5), plain());
  made.network->inject(0, 1, 2, 10000, 1);
  made.network->inject(0, 0, 2, 100, 2);
  made.run();
  ASSERT_EQ(ids(made), (std::vector<std::uint64_t>{2, 1}));
  // At device 1, by what came first: own, own, T1, own, T2, T3, own, T4, T5, T6, own, T7 to T10.
  EXPECT_EQ(made.delivered[0].time, 150 * kByte);
  EXPECT_EQ(made.delivered[1].time, 10100 * kByte);
}

TEST(PacketQueues, BothDirectionsOfACableAreFree) {
  Network made(pair(), plain());
  made.network->inject(0, 0, 1, 100, 1);
  made.network->inject(0, 1, 0, 100, 2);
  made.run();
  EXPECT_EQ(made.delivered[0].time, 100 * kByte);
  EXPECT_EQ(made.delivered[1].time, 100 * kByte);
}

TEST(PacketQueues, WhatFindsNoRoomIsLostAndCounted) {
  // At each 10 ns from the first on a packet of each sender comes, of device 0 first, and one has left just
  // before. With room for k packets device 1 gets k - 1 in, and from then on none.
  constexpr std::uint64_t kPackets = 20;
  for (std::uint64_t room = 1; room <= 5; ++room) {
    Network made(leaf_spine(1, 0, 3), plain(Buffering::kDrop, room));
    made.network->inject(0, 0, 2, kPackets * 10, 1);
    made.network->inject(0, 1, 2, kPackets * 10, 2);
    made.run();
    ASSERT_EQ(made.delivered.size(), 2U);
    const std::uint64_t lost = kPackets - (room - 1);
    for (const Delivery& one : made.delivered) EXPECT_EQ(one.lost, one.id == 1 ? 0 : lost) << room;
    const PortCounters& out = made.network->counters({3, 2});
    EXPECT_EQ(out.lost_packets, lost);
    EXPECT_EQ(out.lost_bytes, lost * 10);
    EXPECT_EQ(out.packets, 2 * kPackets - lost);
    EXPECT_EQ(out.largest_queue_bytes, room * 10);
    EXPECT_EQ(made.network->counters({0, 0}).lost_packets, 0U);
    EXPECT_EQ(made.network->lost_packets(), lost);
  }
}

TEST(PacketQueues, ADevicesOwnMessagesAreNeverLost) {
  Network made(pair(), plain(Buffering::kDrop, 1));
  for (std::uint64_t id = 0; id < 50; ++id) made.network->inject(0, 0, 1, 100, id);
  made.run();
  EXPECT_EQ(made.network->lost_packets(), 0U);
  EXPECT_EQ(made.delivered.back().time, 5000 * kByte);
}

TEST(PacketQueues, CreditsComeBackAfterTheCable) {
  // A cable of 25 ns: a packet is there after 35, its credit after 60. With room for k packets k leave in
  // that time.
  PacketCosts costs = plain(Buffering::kCredits, 1);
  costs.cable_latency = 25 * kByte;
  for (int room = 1; room <= 8; ++room) {
    costs.buffer_bytes = static_cast<std::uint64_t>(room) * 10;
    Network made(pair(), costs);
    made.network->inject(0, 0, 1, 100, 1);
    made.run();
    const int rounds = room < 6 ? 9 / room * 60 + 9 % room * 10 : 90;
    EXPECT_EQ(made.delivered[0].time, (rounds + 35) * kByte) << room;
  }
}

TEST(PacketQueues, CreditsHoldBackInsteadOfLosing) {
  for (std::uint64_t room = 1; room <= 3; ++room) {
    Network made(leaf_spine(1, 0, 3), plain(Buffering::kCredits, room));
    made.network->inject(0, 0, 2, 200, 1);
    made.network->inject(0, 1, 2, 200, 2);
    made.run();
    ASSERT_EQ(made.delivered.size(), 2U);
    EXPECT_EQ(made.network->lost_packets(), 0U);
    EXPECT_EQ(made.delivered[0].lost + made.delivered[1].lost, 0U);
    EXPECT_EQ(made.network->counters({3, 2}).packets, 40U);
    // Of the two inputs, each with its own room.
    EXPECT_LE(made.network->counters({3, 2}).largest_queue_bytes, 2 * room * 10);
    EXPECT_EQ(made.delivered[1].time, 410 * kByte);
  }
}

TEST(PacketQueues, AFullCircleOfCreditsMovesOn) {
  // Every device of a ring sends half way around in the same direction: each buffer waits for the next one.
  for (const Forwarding forwarding : {Forwarding::kStoreAndForward, Forwarding::kCutThrough}) {
    PacketCosts costs = plain(Buffering::kCredits, 1);
    costs.forwarding = forwarding;
    Network made(ring(8), costs);
    for (int device = 0; device < 8; ++device) {
      made.network->inject(0, device, (device + 4) % 8, 500, static_cast<std::uint64_t>(device), 0);
    }
    made.run();
    EXPECT_EQ(made.delivered.size(), 8U);
  }
}

}  // namespace

}  // namespace fabricmark::network
