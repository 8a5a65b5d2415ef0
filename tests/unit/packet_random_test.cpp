// Random traffic over random networks: nothing is forgotten, nothing depends on the order of calls.
#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "packet_support.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::kByte;
using test::kRate;
using test::Network;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRuns = 1000;
#else
constexpr int kRuns = 10000;
#endif

struct Sent {
  Time at = 0;
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
  int port = PacketNetwork::kAnyPort;
};

struct Case {
  std::string topology;
  PacketCosts costs;
  std::vector<Sent> sent;
};

Case random_case(std::mt19937& random, Buffering buffering) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  static const std::vector<std::string> kTopologies{
      "ring:1",      "ring:2",   "ring:5", "ring:6*2",         "torus:3x3",       "torus:2x4",
      "full-mesh:4", "switch:5", "pair*2", "leaf-spine:2x2x3", "leaf-spine:3x1x2"};
  Case made;
  made.topology = kTopologies[below(kTopologies.size())];
  made.costs = {.node_latency = static_cast<Time>(below(3)) * 7 * kByte,
                .cable_latency = static_cast<Time>(below(3)) * 5 * kByte,
                .switch_latency = static_cast<Time>(below(3)) * 3 * kByte,
                .bytes_per_second = kRate,
                .header_bytes = below(4),
                .mtu_bytes = 1 + below(16),
                .forwarding = below(2) == 0 ? Forwarding::kCutThrough : Forwarding::kStoreAndForward,
                .buffering = buffering};
  made.costs.buffer_bytes = (made.costs.mtu_bytes + made.costs.header_bytes) * (1 + below(3)) + below(5);
  const Topology topology = make_topology(made.topology);
  const auto devices = static_cast<std::uint64_t>(topology.devices());
  for (std::uint64_t i = 1 + below(20); i > 0; --i) {
    Sent one{.at = static_cast<Time>(below(20)) * kByte,
             .from = static_cast<int>(below(devices)),
             .to = static_cast<int>(below(devices)),
             .bytes = below(100),
             .id = i};
    if (below(4) == 0)
      one.port = static_cast<int>(below(static_cast<std::uint64_t>(topology.ports(one.from))));
    made.sent.push_back(one);
  }
  return made;
}

using Log = std::vector<std::tuple<Time, int, std::uint64_t, std::uint64_t>>;

Log log_of(const Network& made) {
  Log found;
  for (const Delivery& one : made.delivered) found.emplace_back(one.time, one.device, one.id, one.lost);
  return found;
}

void inject(Network& made, const Sent& one) {
  made.network->inject(one.at, one.from, one.to, one.bytes, one.id, one.port);
}

Log all_at_once(const Case& of) {
  Network made(make_topology(of.topology), of.costs);
  for (const Sent& one : of.sent) inject(made, one);
  made.run();
  return log_of(made);
}

/// As a simulation does that knows no more than what has happened so far.
Log step_by_step(const Case& of, Time step) {
  Network made(make_topology(of.topology), of.costs);
  std::vector<Sent> sent = of.sent;
  std::ranges::stable_sort(sent, {}, &Sent::at);
  Time now = 0;
  for (const Sent& one : sent) {
    for (; now < one.at; now = std::min(now + step, one.at)) made.network->advance_until(now);
    made.network->advance_until(one.at);
    inject(made, one);
  }
  while (made.network->next_time() != kEndOfTime)
    made.network->advance_until(made.network->next_time() + step);
  return log_of(made);
}

TEST(PacketRandom, CreditsLoseNothing) {
  std::mt19937 random(1);
  for (int run = 0; run < kRuns; ++run) {
    const Case one = random_case(random, Buffering::kCredits);
    Network made(make_topology(one.topology), one.costs);
    // The second time all rooms have to be free again.
    for (std::size_t round = 1; round <= 2; ++round) {
      for (Sent sent : one.sent) {
        sent.at += static_cast<Time>(round - 1) * 1'000'000 * kByte;
        inject(made, sent);
      }
      made.run();
      ASSERT_EQ(made.delivered.size(), round * one.sent.size()) << "run " << run << ", " << one.topology;
    }
    EXPECT_EQ(made.network->lost_packets(), 0U);
    for (const Delivery& delivery : made.delivered) EXPECT_EQ(delivery.lost, 0U);
    // The same at the same distance of time: nothing was left behind.
    const Log log = log_of(made);
    for (std::size_t i = 0; i < one.sent.size(); ++i) {
      const auto& [time, device, id, lost] = log[i];
      EXPECT_EQ(log[one.sent.size() + i], std::tuple(time + 1'000'000 * kByte, device, id, lost));
    }
  }
}

TEST(PacketRandom, TheOrderOfCallsDecidesNothing) {
  std::mt19937 random(2);
  for (int run = 0; run < kRuns / 5; ++run) {
    const auto buffering = static_cast<Buffering>(run % 3);
    Case one = random_case(random, buffering);
    const Log expected = all_at_once(one);
    EXPECT_EQ(expected.size(), one.sent.size());
    EXPECT_TRUE(std::ranges::is_sorted(expected, {}, [](const auto& entry) { return std::get<0>(entry); }));
    for (const Time step : {kByte / 2, 3 * kByte}) EXPECT_EQ(step_by_step(one, step), expected) << run;
    std::ranges::shuffle(one.sent, random);
    ASSERT_EQ(all_at_once(one), expected) << "run " << run << ", " << one.topology;
  }
}

TEST(PacketRandom, WithRoomEnoughNoBufferMatters) {
  std::mt19937 random(5);
  for (int run = 0; run < kRuns / 5; ++run) {
    Case one = random_case(random, Buffering::kUnlimited);
    const Log expected = all_at_once(one);
    one.costs.buffer_bytes = 1'000'000;
    for (const Buffering buffering : {Buffering::kCredits, Buffering::kDrop}) {
      one.costs.buffering = buffering;
      ASSERT_EQ(all_at_once(one), expected) << "run " << run << ", " << one.topology;
    }
  }
}

TEST(PacketRandom, AllPacketsArriveOrAreCounted) {
  std::mt19937 random(3);
  std::uint64_t all_lost = 0;
  for (int run = 0; run < kRuns / 5; ++run) {
    const Case one = random_case(random, Buffering::kDrop);
    Network made(make_topology(one.topology), one.costs);
    for (const Sent& sent : one.sent) inject(made, sent);
    made.run();
    ASSERT_EQ(made.delivered.size(), one.sent.size());
    std::uint64_t lost = 0;
    for (const Delivery& delivery : made.delivered) {
      const auto sent = std::ranges::find(one.sent, delivery.id, &Sent::id);
      EXPECT_EQ(delivery.packets, made.network->packets_of(sent->bytes));
      EXPECT_EQ(delivery.device, sent->to);
      lost += delivery.lost;
    }
    std::uint64_t counted = 0;
    for (int node = 0; node < made.topology->nodes(); ++node) {
      for (int port = 0; port < made.topology->ports(node); ++port) {
        const PortCounters& counters = made.network->counters({node, port});
        counted += counters.lost_packets;
        EXPECT_LE(counters.largest_queue_bytes, one.costs.buffer_bytes);
        EXPECT_EQ(counters.busy, static_cast<Time>(counters.bytes) * kByte);
      }
    }
    EXPECT_EQ(lost, counted);
    EXPECT_EQ(lost, made.network->lost_packets());
    all_lost += lost;
  }
  EXPECT_GT(all_lost, 0U);
}

TEST(PacketRandom, MessagesBetweenTwoDevicesKeepTheirOrder) {
  std::mt19937 random(4);
  for (int run = 0; run < kRuns / 5; ++run) {
    Case one = random_case(random, static_cast<Buffering>(run % 2));
    for (Sent& sent : one.sent) sent.port = PacketNetwork::kAnyPort;
    std::ranges::sort(one.sent, {}, [](const Sent& sent) { return std::pair(sent.at, sent.id); });
    const Log log = all_at_once(one);
    std::map<std::pair<int, int>, std::vector<std::uint64_t>> sent_ids;
    std::map<std::pair<int, int>, std::vector<std::uint64_t>> arrived_ids;
    for (const Sent& sent : one.sent) sent_ids[{sent.from, sent.to}].push_back(sent.id);
    for (const auto& entry : log) {
      const auto sent = std::ranges::find(one.sent, std::get<2>(entry), &Sent::id);
      arrived_ids[{sent->from, sent->to}].push_back(sent->id);
    }
    ASSERT_EQ(arrived_ids, sent_ids) << "run " << run << ", " << one.topology;
  }
}

TEST(PacketRandom, ACallbackMaySend) {
  // Each arrival sends the message on to the next device of a ring, until it is around ten times.
  const Topology topology = ring(4);
  PacketCosts costs{.node_latency = 7, .cable_latency = 3, .bytes_per_second = kRate, .mtu_bytes = 10};
  std::vector<Time> times;
  PacketNetwork* network = nullptr;
  PacketNetwork made(topology, costs, [&](const Delivery& one) {
    times.push_back(one.time);
    if (times.size() < 40) network->inject(one.time, one.device, (one.device + 1) % 4, 20, times.size());
  });
  network = &made;
  made.inject(0, 0, 1, 20, 0);
  made.advance_until(kEndOfTime);
  ASSERT_EQ(times.size(), 40U);
  EXPECT_EQ(times.back(), 40 * (7 + 3 + 20 * kByte));
}

}  // namespace

}  // namespace fabricmark::network
