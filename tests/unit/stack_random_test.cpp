// Random messages over networks that lose, double and reorder packets: every byte comes once, in its order,
// and nothing depends on the order of calls.
#include <algorithm>
#include <functional>
#include <random>

#include "packet_support.hpp"
#include "stack_support.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::kByte;
using test::kRate;
using test::log_of;
using test::SentMessage;
using test::StackLog;
using test::StackRun;
using test::wrong_in_arrivals;
using test::wrong_in_completions;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRandomRuns = 500;
#else
constexpr int kRandomRuns = 10000;
#endif

struct Traffic {
  std::string topology;
  StackSettings settings;
  std::vector<SentMessage> sent;
  int killed = -1;  ///< a device, where there is one
  Time death = 0;
};

constexpr PacketFaults kFaults{.drop = 0.05, .duplicate = 0.05, .reorder = 0.05};

Traffic random_traffic(std::mt19937& random, Protocol protocol, PacketFaults faults) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  static const std::vector<std::string> kTopologies{"pair",     "ring:3",   "ring:4",          "switch:2",
                                                    "switch:4", "pair*2",   "full-mesh:3",     "torus:2x2",
                                                    "ring:2",   "switch:3", "leaf-spine:2x2x2"};
  Traffic made;
  made.topology = kTopologies[below(kTopologies.size())];
  faults.seed = random();
  made.settings = {.protocol = protocol,
                   .costs = {.node_latency = static_cast<Time>(below(3)) * 70 * kByte,
                             .cable_latency = static_cast<Time>(below(3)) * 50 * kByte,
                             .switch_latency = static_cast<Time>(below(3)) * 30 * kByte,
                             .bytes_per_second = kRate,
                             .header_bytes = 1 + below(8),
                             .mtu_bytes = 1 + below(64),
                             .forwarding = static_cast<Forwarding>(below(2)),
                             .buffering = static_cast<Buffering>(below(3))},
                   .window_bytes = 1 + below(500),
                   .receive_latency = static_cast<Time>(below(3)) * 40 * kByte,
                   .faults = faults,
                   .most_retransmissions = 12};
  made.settings.costs.buffer_bytes =
      (made.settings.costs.mtu_bytes + made.settings.costs.header_bytes) * (2 + below(8));
  const Topology topology = make_topology(made.topology);
  const auto devices = static_cast<std::uint64_t>(topology.devices());
  for (std::uint64_t i = 1 + below(6); i > 0; --i) {
    made.sent.push_back({.at = static_cast<Time>(below(400)) * kByte,
                         .from = static_cast<int>(below(devices)),
                         .to = static_cast<int>(below(devices)),
                         .id = i,
                         .bytes = below(4) == 0 ? below(3) : below(400)});
  }
  return made;
}

void carry(StackRun& run, const Traffic& traffic) {
  for (const SentMessage& one : traffic.sent) run.send(one);
  if (traffic.killed >= 0) run.stack->kill(traffic.death, traffic.killed);
  run.run();
}

StackLog log_of_all_at_once(const Traffic& traffic) {
  StackRun run(make_topology(traffic.topology), traffic.settings);
  carry(run, traffic);
  return log_of(run);
}

/// As a simulation does that knows no more than what has happened so far.
StackLog log_of_steps(const Traffic& traffic, Time step) {
  StackRun run(make_topology(traffic.topology), traffic.settings);
  if (traffic.killed >= 0) run.stack->kill(traffic.death, traffic.killed);
  std::vector<SentMessage> sent = traffic.sent;
  std::ranges::stable_sort(sent, std::ranges::greater{}, &SentMessage::at);
  const Time lookahead = run.stack->lookahead();
  Time now = 0;
  while (!sent.empty()) {
    // The network is as far as it may be, and of what may still be sent the latest comes first.
    const auto due = std::ranges::find_if(sent, [&](const SentMessage& one) { return one.at < now + step; });
    std::for_each(due, sent.end(), [&](const SentMessage& one) { run.send(one); });
    sent.erase(due, sent.end());
    now += step;
    run.stack->advance_until(now + lookahead);
  }
  run.run();
  return log_of(run);
}

void expect_all_comes(Protocol protocol, unsigned seed) {
  std::mt19937 random(seed);
  Stack::Counters all;
  std::uint64_t all_without_room = 0;
  for (int number = 0; number < kRandomRuns; ++number) {
    const Traffic traffic = random_traffic(random, protocol, kFaults);
    StackRun run(make_topology(traffic.topology), traffic.settings);
    carry(run, traffic);
    ASSERT_EQ(wrong_in_completions(traffic.sent, run.completed), "") << number << ", " << traffic.topology;
    ASSERT_EQ(wrong_in_arrivals(traffic.sent, run.arrived, false), "") << number << ", " << traffic.topology;
    if (number % 10 == 0) {
      ASSERT_EQ(log_of_all_at_once(traffic), log_of(run)) << number;
    }
    const Stack::Counters& counters = run.stack->counters();
    const std::uint64_t without_room = run.stack->network().lost_packets();
    all.lost += counters.lost - without_room;
    all.duplicates += counters.duplicates;
    all.packets += counters.packets + counters.acknowledgements - without_room;
    all_without_room += without_room;
    all.retransmitted += counters.retransmitted;
  }
  // The faults were there.
  EXPECT_NEAR(static_cast<double>(all.lost), 0.05 * static_cast<double>(all.packets),
              0.005 * static_cast<double>(all.packets));
  EXPECT_GT(all_without_room, 0U);
  EXPECT_GT(all.duplicates, all.packets / 100);
  EXPECT_GT(all.retransmitted, all.packets / 100);
}

TEST(StackRandom, TcpBringsAllInOrder) { expect_all_comes(Protocol::kTcp, 1); }
TEST(StackRandom, RdmaBringsAllInOrder) { expect_all_comes(Protocol::kRdma, 2); }

TEST(StackRandom, UdpTellsOfEachByteOnce) {
  std::mt19937 random(3);
  std::uint64_t all_lost = 0;
  for (int number = 0; number < kRandomRuns; ++number) {
    const Traffic traffic = random_traffic(random, Protocol::kUdp, kFaults);
    StackRun run(make_topology(traffic.topology), traffic.settings);
    carry(run, traffic);
    ASSERT_EQ(wrong_in_arrivals(traffic.sent, run.arrived, true), "") << number << ", " << traffic.topology;
    ASSERT_EQ(wrong_in_completions(traffic.sent, run.completed), "") << number;
    std::uint64_t lost = 0;
    for (const Stack::Arrival& one : run.arrived) lost += one.is_lost ? one.bytes : 0;
    ASSERT_EQ(run.stack->counters().lost_bytes, lost);
    EXPECT_EQ(run.stack->counters().acknowledgements, 0U);
    all_lost += lost;
  }
  EXPECT_GT(all_lost, 0U);
}

TEST(StackRandom, TheOrderOfCallsDecidesNothing) {
  std::mt19937 random(4);
  int differ = 0;
  for (int number = 0; number < kRandomRuns / 5; ++number) {
    const PacketFaults faults = number % 2 == 0 ? kFaults : PacketFaults{};
    Traffic traffic = random_traffic(random, static_cast<Protocol>(number % 3), faults);
    traffic.settings.burst_bytes = random() % 200;
    if (number % 5 == 0) {
      traffic.killed = static_cast<int>(random() % 2);
      traffic.death = static_cast<Time>(random() % 1000) * kByte;
    }
    const StackLog expected = log_of_all_at_once(traffic);
    for (const Time step : {kByte / 2, 30 * kByte}) {
      ASSERT_EQ(log_of_steps(traffic, step), expected) << number << ", " << traffic.topology;
    }
    std::ranges::shuffle(traffic.sent, random);
    ASSERT_EQ(log_of_all_at_once(traffic), expected) << number << ", " << traffic.topology;
    ++traffic.settings.faults.seed;
    differ += log_of_all_at_once(traffic) == expected ? 0 : 1;
  }
  EXPECT_GT(differ, kRandomRuns / 5 / 4);  // of those with faults: another seed is another run
}

/// The first thing that is found wrong with what TCP tells, in many runs, where `corrupt` changes it before.
std::string found_wrong(Protocol protocol, PacketFaults faults,
                        const std::function<void(std::vector<Stack::Arrival>&)>& corrupt = {}) {
  std::mt19937 random(5);
  for (int number = 0; number < 100; ++number) {
    const Traffic traffic = random_traffic(random, protocol, faults);
    StackRun run(make_topology(traffic.topology), traffic.settings);
    carry(run, traffic);
    if (corrupt && run.arrived.size() > 1) corrupt(run.arrived);
    const std::string wrong = wrong_in_arrivals(traffic.sent, run.arrived, false);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

TEST(StackRandom, TheCheckSeesAReceiverThatAcceptsTheWrongThings) {
  EXPECT_EQ(found_wrong(Protocol::kTcp, kFaults), "");
  EXPECT_NE(found_wrong(Protocol::kTcp, kFaults, [](auto& told) { told.push_back(told.back()); }), "");
  EXPECT_NE(found_wrong(Protocol::kTcp, kFaults, [](auto& told) { told.pop_back(); }), "");
  EXPECT_NE(found_wrong(Protocol::kTcp, kFaults, [](auto& told) { told.erase(told.begin()); }), "");
  EXPECT_NE(found_wrong(Protocol::kTcp, kFaults, [](auto& told) { ++told.front().bytes; }), "");
  EXPECT_NE(found_wrong(Protocol::kTcp, kFaults, [](auto& told) { told.back().time = 0; }), "");
  // A protocol that accepts what comes is not enough, for any of the faults that lose or reorder.
  EXPECT_NE(found_wrong(Protocol::kUdp, {.drop = 0.05}), "");
  EXPECT_NE(found_wrong(Protocol::kUdp, {.reorder = 0.05}), "");
}

}  // namespace

}  // namespace fabricmark::network
