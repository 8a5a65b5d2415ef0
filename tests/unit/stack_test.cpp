#include "network/stack/stack.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "packet_support.hpp"
#include "stack_support.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::kByte;
using test::kRate;
using test::log_of;
using test::mentions;
using test::message_of;
using test::SentMessage;
using test::StackRun;

constexpr std::array kProtocols{Protocol::kUdp, Protocol::kTcp, Protocol::kRdma};
constexpr std::array kReliable{Protocol::kTcp, Protocol::kRdma};

StackSettings settings_of(Protocol protocol, Forwarding forwarding = Forwarding::kCutThrough) {
  return {.protocol = protocol,
          .costs = {.node_latency = 1000 * kByte,
                    .cable_latency = 100 * kByte,
                    .switch_latency = 10 * kByte,
                    .bytes_per_second = kRate,
                    .header_bytes = 4,
                    .mtu_bytes = 64,
                    .forwarding = forwarding},
          .window_bytes = 1 << 20,
          .receive_latency = 30 * kByte,
          .burst_bytes = 300};
}
/// A packet of 64 B, and its acknowledgement, over one cable.
constexpr Time kAnswered = (1100 + 68 + 1100 + 4) * kByte;

std::uint64_t packets_of(std::uint64_t bytes) { return bytes == 0 ? 1 : (bytes + 63) / 64; }
/// All bytes and headers of a message, one after the other.
Time wire_time(std::uint64_t bytes) { return static_cast<Time>(bytes + 4 * packets_of(bytes)) * kByte; }

TEST(Stack, AMessageByItselfTakesWhatTheClosedFormSays) {
  for (const Protocol protocol : kProtocols) {
    for (const std::uint64_t bytes : {0U, 1U, 63U, 64U, 65U, 128U, 150U, 300U, 1000U, 5000U, 65536U}) {
      const auto time = [&](const Topology& topology, int to, Forwarding forwarding) {
        return StackRun(topology, settings_of(protocol, forwarding)).time_of(0, to, bytes);
      };
      const Time wire = wire_time(bytes);
      EXPECT_EQ(time(pair(), 1, Forwarding::kCutThrough), 1100 * kByte + wire);
      EXPECT_EQ(time(leaf_spine(1, 0, 3), 2, Forwarding::kCutThrough), 1210 * kByte + wire);
      EXPECT_EQ(time(leaf_spine(2, 2, 2), 3, Forwarding::kCutThrough), 1430 * kByte + wire);
      EXPECT_EQ(time(ring(8), 3, Forwarding::kCutThrough), 3300 * kByte + wire);
      // All wait for the first packet on every cable but one.
      const Time stored = wire_time(std::min<std::uint64_t>(bytes, 64));
      EXPECT_EQ(time(ring(8), 3, Forwarding::kStoreAndForward), 3300 * kByte + 2 * stored + wire);
      // To itself: no cable, but the latency of the device.
      if (bytes <= 64) {
        EXPECT_EQ(time(pair(), 0, Forwarding::kCutThrough), 1000 * kByte);
      }
    }
  }
}

TEST(Stack, AMessageMayBeOnePacketOrWaitForCredits) {
  for (const Protocol protocol : kProtocols) {
    for (const std::uint64_t bytes : {0U, 1U, 1000U, 5000U}) {
      StackSettings whole = settings_of(protocol);
      whole.costs.mtu_bytes = 0;
      EXPECT_EQ(StackRun(leaf_spine(1, 0, 3), whole).time_of(0, 2, bytes),
                (1210 + static_cast<Time>(bytes) + 4) * kByte);
      StackSettings finite = settings_of(protocol);
      finite.costs.buffering = Buffering::kCredits;
      finite.costs.buffer_bytes = 10 * 68;  // more than leave before the first credit is back
      EXPECT_EQ(StackRun(leaf_spine(1, 0, 3), finite).time_of(0, 2, bytes), 1210 * kByte + wire_time(bytes));
      // Over its loop to itself.
      EXPECT_EQ(StackRun(ring(1), settings_of(protocol)).time_of(0, 0, bytes),
                1100 * kByte + wire_time(bytes));
    }
  }
}

TEST(Stack, TheSenderIsFreeWhenTheMessageHasLeftOrIsAcknowledged) {
  for (const std::uint64_t bytes : {0U, 64U, 1000U}) {
    for (const Protocol protocol : kProtocols) {
      StackRun run(pair(), settings_of(protocol));
      run.send({500 * kByte, 1, 0, 77, bytes});
      run.run();
      Time expected = 1500 * kByte + wire_time(bytes);
      if (protocol != Protocol::kUdp) expected += 100 * kByte + 1104 * kByte;
      if (protocol == Protocol::kTcp) expected += 30 * kByte;
      ASSERT_EQ(run.completed.size(), 1U);
      EXPECT_EQ(run.completed.front().time, expected);
      EXPECT_EQ(run.completed.front().id, 77U);
      EXPECT_EQ(run.completed.front().from, 1);
      EXPECT_FALSE(run.completed.front().has_failed);
    }
  }
}

TEST(Stack, CountsPacketsAndAcknowledgements) {
  for (const Protocol protocol : kProtocols) {
    StackRun run(pair(), settings_of(protocol));
    run.send({0, 0, 1, 1, 1000});
    run.send({0, 0, 1, 2, 0});
    run.run();
    const Stack::Counters& counters = run.stack->counters();
    EXPECT_EQ(counters.messages, 2U);
    EXPECT_EQ(counters.packets, 17U);
    EXPECT_EQ(counters.retransmitted + counters.lost + counters.duplicates + counters.early, 0U);
    const std::uint64_t expected = protocol == Protocol::kUdp ? 0U : protocol == Protocol::kTcp ? 17U : 2U;
    EXPECT_EQ(counters.acknowledgements, expected);
    EXPECT_EQ(run.stack->network().counters({0, 0}).bytes, 1000 + 17 * 4U);
    EXPECT_EQ(run.stack->network().counters({1, 0}).packets, expected);
    EXPECT_EQ(run.stack->network().counters({1, 0}).bytes, expected * 4);
  }
}

TEST(Stack, MessagesOfAFlowKeepTheOrderOfTheirTimesThenIds) {
  for (const Protocol protocol : kProtocols) {
    StackRun run(pair(), settings_of(protocol));
    run.send({5 * kByte, 0, 1, 3, 10});
    run.send({5 * kByte, 0, 1, 2, 500});
    run.send({0, 0, 1, 9, 100});
    run.run();
    std::vector<std::uint64_t> last;
    for (const Stack::Arrival& one : run.arrived) {
      if (one.is_last) last.push_back(one.id);
    }
    EXPECT_EQ(last, (std::vector<std::uint64_t>{9, 2, 3}));
  }
}

TEST(Stack, FlowsOfADeviceShareItsPort) {
  for (const Protocol protocol : kProtocols) {
    StackSettings settings = settings_of(protocol);
    settings.window_bytes = 256;
    StackRun run(leaf_spine(1, 0, 3), settings);
    for (int to = 1; to < 3; ++to) run.send({0, 0, to, static_cast<std::uint64_t>(to), 64000});
    run.run();
    // Neither waits for the other's end.
    const auto end_of = [&](int to) {
      return std::ranges::find_if(run.arrived, [&](const auto& one) { return one.is_last && one.to == to; })
          ->time;
    };
    EXPECT_LT(std::abs(end_of(1) - end_of(2)), end_of(1) / 50);
  }
}

TEST(Stack, BurstsAreFewEventsAndTakeTheSameTime) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kRdma}) {
    StackSettings settings = settings_of(protocol);
    const auto run_with = [&](std::uint64_t burst) {
      settings.burst_bytes = burst;
      StackRun run(leaf_spine(1, 0, 2), settings);
      run.send({0, 0, 1, 1, 1 << 20});
      run.run();
      EXPECT_EQ(run.stack->counters().packets, std::uint64_t{1 << 20} / 64);
      EXPECT_EQ(run.stack->network().counters({0, 0}).bytes, std::uint64_t{1 << 20} / 64 * 68);
      return std::tuple(run.arrived.back().time, run.completed.back().time, run.stack->network().events());
    };
    const auto [arrived, completed, events] = run_with(0);
    const auto [burst_arrived, burst_completed, burst_events] = run_with(65536);
    EXPECT_EQ(burst_arrived, arrived);
    EXPECT_EQ(burst_completed, completed);
    EXPECT_LT(burst_events, 100U);
    EXPECT_GT(events, 65536U);
  }
}

TEST(Stack, NothingIsRetransmittedWhereNothingIsLost) {
  // All to one: packets wait in the switch for much longer than a round trip.
  for (const Protocol protocol : kReliable) {
    StackSettings settings = settings_of(protocol);
    StackRun run(leaf_spine(1, 0, 8), settings);
    for (int from = 1; from < 8; ++from) run.send({0, from, 0, 1, 65536});
    run.run();
    EXPECT_EQ(run.stack->counters().retransmitted, 0U);
    EXPECT_GE(run.arrived.back().time, 7 * wire_time(65536));
    EXPECT_EQ(run.completed.size(), 7U);
    // Who wants less patience gets more packets, and the same bytes.
    settings.retransmission_time = 500 * kByte;
    settings.most_retransmissions = 30;
    StackRun hasty(leaf_spine(1, 0, 8), settings);
    std::vector<SentMessage> sent;
    for (int from = 1; from < 8; ++from) sent.push_back({0, from, 0, 1, 65536});
    for (const SentMessage& one : sent) hasty.send(one);
    hasty.run();
    EXPECT_GT(hasty.stack->counters().retransmitted, 0U);
    EXPECT_EQ(wrong_in_arrivals(sent, hasty.arrived, false), "");
    EXPECT_EQ(wrong_in_completions(sent, hasty.completed), "");
  }
}

TEST(Stack, ATimeOutThatIsNoLongerNeededIsNothing) {
  for (const Protocol protocol : kReliable) {
    StackSettings settings = settings_of(protocol);
    settings.retransmission_time = 100 * kAnswered;
    StackRun run(pair(), settings);
    EXPECT_EQ(run.stack->next_time(), kEndOfTime);
    run.send({0, 0, 1, 1, 1000});
    EXPECT_EQ(run.stack->next_time(), 1000 * kByte);
    const Time end = (1100 + 100 + 1104 + 30) * kByte + wire_time(1000);
    run.stack->advance_until(end);
    EXPECT_EQ(run.stack->counters().retransmitted, 0U);
    EXPECT_EQ(run.completed.size(), 1U);
    EXPECT_EQ(run.stack->next_time(), kEndOfTime);
  }
}

TEST(Stack, WhatComesInTheMomentOfATimeOutIsInTime) {
  for (const Protocol protocol : kReliable) {
    StackSettings settings = settings_of(protocol);
    settings.receive_latency = 0;
    for (const Time less : {Time{0}, Time{1}}) {
      settings.retransmission_time = (100 + 1104) * kByte - less;  // from when the packet has left
      StackRun run(pair(), settings);
      run.send({0, 0, 1, 1, 64});
      run.run();
      EXPECT_EQ(run.stack->counters().retransmitted, less == 0 ? 0U : 1U);
      EXPECT_EQ(run.completed.size(), 1U);
    }
  }
}

TEST(Stack, AListenerMaySend) {
  for (const Protocol protocol : kProtocols) {
    const Topology topology = ring(4);
    Stack* stack = nullptr;
    std::vector<Time> times;
    const std::unique_ptr<Stack> made =
        make_stack(topology, settings_of(protocol), {.arrived = [&](const Stack::Arrival& one) {
                     times.push_back(one.time);
                     if (times.size() < 40) stack->send(one.time, one.to, (one.to + 1) % 4, times.size(), 64);
                   }});
    stack = made.get();
    stack->send(0, 0, 1, 0, 64);
    stack->advance_until(kEndOfTime);
    ASSERT_EQ(times.size(), 40U);
    EXPECT_EQ(times.back(), 40 * 1168 * kByte);
  }
}

TEST(Stack, RefusesWhatCannotBe) {
  const auto refused = [](auto change) {
    StackSettings settings = settings_of(Protocol::kTcp);
    change(settings);
    return message_of([&] { StackRun(pair(), settings); });
  };
  EXPECT_TRUE(mentions(refused([](auto& of) { of.window_bytes = 0; }), "a window of 0 B"));
  EXPECT_TRUE(
      mentions(refused([](auto& of) { of.faults.drop = 1.5; }), "1.5 as the share of packets to drop"));
  refused([](auto& of) { of.faults.reorder = -0.1; });
  refused([](auto& of) { of.faults.duplicate = std::nan(""); });
  refused([](auto& of) { of.receive_latency = -1; });
  refused([](auto& of) { of.retransmission_time = -1; });
  refused([](auto& of) { of.most_retransmissions = -1; });
  refused([](auto& of) { of.costs.bytes_per_second = 0; });
  StackRun run(pair(), settings_of(Protocol::kTcp));
  EXPECT_TRUE(mentions(message_of([&] { run.send({0, 0, 2, 1, 1}); }), "no device 2"));
  message_of([&] { run.send({0, -1, 0, 1, 1}); });
  message_of([&] { run.send({0, 0, 1, 1, std::uint64_t{1} << 60U}); });
  message_of([&] { run.stack->kill(0, 2); });
  run.send({5000 * kByte, 0, 1, 1, 1});
  run.run();
  EXPECT_TRUE(mentions(message_of([&] { run.send({0, 1, 0, 1, 1}); }), "a message of device 1 at 0 s"));
  EXPECT_TRUE(mentions(message_of([&] { run.stack->kill(0, 1); }), "the end of device 1 at 0 s"));
}

}  // namespace

}  // namespace fabricmark::network
