#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "dataflow_support.hpp"
#include "network/cycle_link.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::dataflow {
namespace {

using network::FlowSettings;

#if defined(__SANITIZE_THREAD__)
constexpr int kRounds = 30;  // it takes a hundred times as long
constexpr int kRuns = 2;
#else
constexpr int kRounds = 300;
constexpr int kRuns = 20;
#endif

std::shared_ptr<Fabric> pair(const FlowSettings& flow, double latency_seconds, int workers = 1) {
  return std::make_shared<Fabric>(FabricSettings{.devices = 2,
                                                 .topology = network::pair(),
                                                 .link = {latency_seconds, 1e9, 4, flow},
                                                 .workers = workers,
                                                 .stack_bytes = 1 << 16});
}

struct Pattern {
  std::vector<int> writes;  ///< cycles before each word
  std::vector<int> takes;
};

struct Taken {
  std::vector<int> words;
  std::vector<Time> times;
  std::uint64_t overruns = 0;
  bool operator==(const Taken&) const = default;
};

void PrintTo(const Taken& taken, std::ostream* out) {
  *out << taken.overruns << " lost;";
  for (std::size_t i = 0; i < taken.words.size(); ++i)
    *out << ' ' << taken.words[i] << '@' << taken.times[i] / kCycle;
}

/// Word by word as the kernels below do it, stepped by cycle.
Taken by_cycles(const FlowSettings& flow, int latency, const Pattern& pattern) {
  network::CycleLink link(network::make_flow_control(flow), latency + 1, latency);
  Taken found;
  std::vector<int> in_flight;
  std::size_t arrived = 0;
  std::vector<int> stored;
  std::size_t writing = 0;
  std::size_t taking = 0;
  int write_from = pattern.writes[0];
  int take_from = pattern.takes[0];
  const auto last = [&] { return taking == pattern.takes.size() && writing == pattern.writes.size(); };
  while (!(last() && arrived == in_flight.size()) && link.now() < 20000) {
    const auto now = static_cast<int>(link.now());
    const bool is_valid = writing < pattern.writes.size() && now >= write_from;
    const auto step = link.step(is_valid, taking < pattern.takes.size() && now >= take_from);
    if (step.leaves) {
      in_flight.push_back(static_cast<int>(writing++));
      if (writing < pattern.writes.size()) write_from = now + 1 + pattern.writes[writing];
    }
    if (step.arrives && !step.is_lost) stored.push_back(in_flight[arrived]);
    if (step.arrives) ++arrived;
    if (step.taken) {
      found.words.push_back(stored.front());
      stored.erase(stored.begin());
      found.times.push_back(now * kCycle);
      if (++taking < pattern.takes.size()) take_from = now + 1 + pattern.takes[taking];
    }
  }
  found.overruns = link.flow().overruns();
  return found;
}

Taken by_kernels(const FlowSettings& flow, int latency, const Pattern& pattern, int workers) {
  const auto fabric = pair(flow, latency * 1e-9, workers);
  Host sender(fabric, 0, kDevice);
  Host receiver(fabric, 1, kDevice);
  auto out = sender.open<int>(0);
  auto in = receiver.open<int>(0);
  Taken found;
  sender.start("send", {}, [&] {
    int number = 0;
    for (const int gap : pattern.writes) {
      spend_cycles(gap + (number > 0 ? 1 : 0));
      out.out.write(number++);
    }
  });
  receiver.start("receive", {}, [&] {
    for (const int gap : pattern.takes) {
      spend_cycles(gap + (found.words.empty() ? 0 : 1));
      found.words.push_back(in.in.read());
      found.times.push_back(kernel_here()->clock);
    }
  });
  finish(sender, receiver);
  found.overruns = in.in.channel().counters().overruns;
  return found;
}

Pattern random_pattern(std::mt19937& draw, std::size_t writes, std::size_t takes) {
  const auto gaps = [&draw](std::size_t count) {
    const int longest = std::uniform_int_distribution(0, 6)(draw);
    std::vector<int> found(count);
    for (int& gap : found) gap = std::uniform_int_distribution(0, longest)(draw);
    return found;
  };
  return {gaps(writes), gaps(takes)};
}

TEST(DataflowLinks, CreditsAgreeWithTheLinkSteppedByCycle) {
  std::mt19937 draw(1);
  for (int round = 0; round < kRounds; ++round) {
    const int latency = std::uniform_int_distribution(1, 20)(draw);
    const FlowSettings flow{.credits = std::uniform_int_distribution<std::size_t>(1, 50)(draw)};
    const Pattern pattern = random_pattern(draw, 60, 60);
    const Taken expected = by_cycles(flow, latency, pattern);
    EXPECT_EQ(by_kernels(flow, latency, pattern, 1 + round % 2), expected) << "round " << round;
  }
}

TEST(DataflowLinks, XonXoffAgreesWithTheLinkSteppedByCycle) {
  std::mt19937 draw(2);
  std::uint64_t lost = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int latency = std::uniform_int_distribution(1, 10)(draw);
    const auto high = std::uniform_int_distribution<std::size_t>(2, 8)(draw);
    const FlowSettings flow{.kind = FlowSettings::Kind::kXonXoff,
                            .high = high,
                            .low = std::uniform_int_distribution<std::size_t>(0, high - 1)(draw),
                            .headroom = std::uniform_int_distribution<std::size_t>(0, 24)(draw)};
    Pattern pattern = random_pattern(draw, 60, 60);
    pattern.takes.resize(by_cycles(flow, latency, pattern).words.size());  // those that come
    const Taken expected = by_cycles(flow, latency, pattern);
    EXPECT_EQ(by_kernels(flow, latency, pattern, 1 + round % 2), expected) << "round " << round;
    lost += expected.overruns;
  }
  EXPECT_GT(lost, static_cast<std::uint64_t>(kRounds) / 3);
}

TEST(DataflowLinks, WithoutControlAgreesWithTheLinkSteppedByCycle) {
  std::mt19937 draw(3);
  for (int round = 0; round < kRounds; ++round) {
    const int latency = std::uniform_int_distribution(1, 10)(draw);
    const FlowSettings flow{.kind = FlowSettings::Kind::kNone,
                            .places = std::uniform_int_distribution<std::size_t>(1, 8)(draw)};
    Pattern pattern = random_pattern(draw, 60, 60);
    pattern.takes.resize(by_cycles(flow, latency, pattern).words.size());
    EXPECT_EQ(by_kernels(flow, latency, pattern, 1 + round % 2), by_cycles(flow, latency, pattern)) << round;
  }
}

/// Meyer 2024, eq. 4.4: two channels of 32 B at 156.25 MHz, 520 ns: t = ceil(L / (2 * 32 B)) / c_f + c_l.
TEST(DataflowLinks, MessagesTakeWhatTheClosedFormSays) {
  struct Chunk {
    std::array<char, 32> bytes;
  };
  const double clock = 156.25e6;
  const auto fabric = std::make_shared<Fabric>(
      FabricSettings{.devices = 2, .topology = network::pair(2), .link = {520e-9, clock, 32, {}}});
  const DeviceCost device{clock, 1e-6, 0};
  Host sender(fabric, 0, device);
  Host receiver(fabric, 1, device);
  Link<Chunk> out[] = {sender.open<Chunk>(0), sender.open<Chunk>(1)};
  Link<Chunk> in[] = {receiver.open<Chunk>(0), receiver.open<Chunk>(1)};
  for (int bytes = 1; bytes <= 1 << 20; bytes *= 2) {
    const int words = (bytes + 63) / 64;
    const auto sent = sender.start("send", {}, [&] {
      for (int i = 0; i < words; ++i) {
        out[0].out.write({});
        out[1].out.write({});
      }
    });
    const auto received = receiver.start("receive", {}, [&] {
      for (int i = 0; i < words; ++i) {
        in[0].in.read();
        in[1].in.read();
      }
    });
    finish(sender, receiver);
    EXPECT_NEAR(received.times().ended - sent.times().started, words / clock + 520e-9, 1e-13) << bytes;
  }
}

struct Outcomes {
  explicit Outcomes(int devices) : ends(static_cast<std::size_t>(devices)), results(ends.size()) {}
  std::vector<Time> ends;
  std::vector<int> results;
  bool operator==(const Outcomes&) const = default;
};

/// Words go round a ring.
void run_in_ring(const std::shared_ptr<Fabric>& fabric, int i, Outcomes& outcomes) {
  Host host(fabric, i, device_of_ring(i));
  auto next = host.open<int>(0);
  auto before = host.open<int>(1);
  stream<int, 4> taken("taken");
  host.start("send", {}, send_now_and_then, next.out, i, 50);
  host.start("receive", {}, ask_for_words, before.in, taken, 50);
  auto& result = outcomes.results[static_cast<std::size_t>(i)];
  const auto sum = [&] {
    for (int word = 0; word < 25; ++word) {
      result = (result * 31 + taken.read()) % 1000003;
      spend_cycles(word % 5);
    }
  };
  const auto first = host.start("sum", {}, sum);
  host.start("sum again", {.after = {first}}, sum);
  host.finish();
  outcomes.ends[static_cast<std::size_t>(i)] = host.now();
}

Outcomes ring(int devices, int workers, const FlowSettings& flow, std::optional<std::uint64_t> seed) {
  FabricSettings settings = ring_of(devices, flow);
  settings.workers = workers;
  settings.schedule_seed = seed;
  const auto fabric = std::make_shared<Fabric>(settings);
  Outcomes outcomes(devices);
  std::vector<std::jthread> hosts;
  for (int i = 0; i < devices; ++i) hosts.emplace_back([&, i] { run_in_ring(fabric, i, outcomes); });
  hosts.clear();
  return outcomes;
}

/// The same with a fabric for each device, as processes have it.
Outcomes apart(int devices, const FlowSettings& flow) {
  Outcomes outcomes(devices);
  runtime::run_in_process(devices, [&](runtime::Communicator& ranks) {
    const auto fabric = std::make_shared<Fabric>(ring_of(devices, flow),
                                                 std::make_unique<Peers>(ranks.split(0, ranks.rank())));
    run_in_ring(fabric, ranks.rank(), outcomes);
    return 0;
  });
  return outcomes;
}

const FlowSettings kXonXoff{.kind = FlowSettings::Kind::kXonXoff, .high = 8, .low = 2, .headroom = 300};
const FlowSettings kCreditLink{.kind = FlowSettings::Kind::kCreditLink, .credit_link = {4, 12, 4, 20}};

TEST(DataflowLinks, ModelledTimeIsTheSameWithAnyNumberOfWorkers) {
  for (const FlowSettings& flow : {FlowSettings{.credits = 10}, kXonXoff, kCreditLink}) {
    const Outcomes expected = ring(5, 1, flow, std::nullopt);
    EXPECT_NE(expected.results[0], expected.results[1]);
    for (const int workers : {1, 2, 8}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed)
        EXPECT_EQ(ring(5, workers, flow, seed), expected) << workers;
    }
  }
}

TEST(DataflowLinks, ModelledTimeIsTheSameInOtherProcesses) {
  for (const FlowSettings& flow : {FlowSettings{.credits = 10}, kXonXoff, kCreditLink}) {
    const Outcomes expected = ring(4, 1, flow, std::nullopt);
    for (int round = 0; round < kRuns; ++round) EXPECT_EQ(apart(4, flow), expected);
  }
}

/// More than the credits, before it reads.
void talk(stream<int>& out, stream<int>& in) {
  for (int i = 0; i < 5; ++i) out.write(i);
  for (int i = 0; i < 5; ++i) in.read();
}

TEST(DataflowLinks, ADeadlockOfSeveralProcessesIsNamedInAll) {
  std::vector<std::string> messages(2);
  runtime::run_in_process(2, [&](runtime::Communicator& ranks) {
    FabricSettings settings{
        .devices = 2, .topology = network::pair(), .link = {1e-9, 1e9, 4, {.credits = 2}}};
    const auto fabric =
        std::make_shared<Fabric>(settings, std::make_unique<Peers>(ranks.split(0, ranks.rank())));
    Host host(fabric, ranks.rank(), kDevice);
    auto link = host.open<int>(0);
    host.start("talk", {}, talk, link.out, link.in);
    try {
      host.finish();
    } catch (const Error& error) {
      messages[static_cast<std::size_t>(ranks.rank())] = error.what();
    }
    return 0;
  });
  EXPECT_NE(messages[0].find(
                "talk (device 0) waits for a place in link 0:0 to 1:0 (2 of 2 words) -> talk (device 1) "
                "waits for a place in link 1:0 to 0:0 (2 of 2 words) -> talk (device 0)"),
            std::string::npos)
      << messages[0];
  EXPECT_EQ(messages[0], messages[1]);
}

TEST(DataflowLinks, SendersInACircleAreNamed) {
  const auto fabric = pair({.credits = 2}, 1e-9);
  Host first(fabric, 0, kDevice);
  Host second(fabric, 1, kDevice);
  auto one = first.open<int>(0);
  auto two = second.open<int>(0);
  first.start("talk", {}, talk, one.out, one.in);
  second.start("talk", {}, talk, two.out, two.in);
  try {
    finish(first, second);
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(
        message.find("talk (device 0) waits for a place in link 0:0 to 1:0 (2 of 2 words) -> talk (device 1) "
                     "waits for a place in link 1:0 to 0:0 (2 of 2 words) -> talk (device 0)"),
        std::string::npos)
        << message;
  }
}

TEST(DataflowLinks, EndsMustAgree) {
  const auto fabric = pair({.credits = 2}, 1e-9);
  Host first(fabric, 0, kDevice);
  Host second(fabric, 1, kDevice);
  auto one = first.open<int>(0);
  EXPECT_THROW(first.open<int>(0), Error);
  EXPECT_THROW(second.open<double>(0), Error);
}

}  // namespace
}  // namespace fabricmark::dataflow
