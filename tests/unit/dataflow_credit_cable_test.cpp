#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "dataflow_support.hpp"
#include "network/credit_link/duplex_cycle_link.hpp"

namespace fabricmark::dataflow {
namespace {

using credit_link::DuplexCycleLink;
using credit_link::LinkEnd;
using credit_link::LinkParameters;
using network::FlowSettings;

#if defined(__SANITIZE_THREAD__)
constexpr int kRandomLinks = 20;  // it takes a hundred times as long
#else
constexpr int kRandomLinks = 200;
#endif
constexpr unsigned kFlitBytes = 32;

struct CableSettings {
  LinkParameters link;
  int latency = 1;
  [[nodiscard]] FlowSettings flow() const {
    return {.kind = FlowSettings::Kind::kCreditLink,
            .credit_link = {link.packet_flits, link.receive_flits, link.credit_flits, link.timeout}};
  }
};

/// Cycles before each word, of what one end sends and of what it takes.
struct Gaps {
  std::vector<int> writes;
  std::vector<int> takes;
};
using GapsOfBoth = std::array<Gaps, 2>;
/// [end]: cycle in which each word was taken.
using TakenAt = std::array<std::vector<int>, 2>;

std::shared_ptr<Fabric> cable(const CableSettings& settings, int workers = 1) {
  return std::make_shared<Fabric>(
      FabricSettings{.devices = 2,
                     .topology = network::pair(),
                     .link = {settings.latency * 1e-9, 1e9, kFlitBytes, settings.flow()},
                     .workers = workers,
                     .stack_bytes = 1 << 16});
}

/// Both directions, word by word as the kernels below do it. A kernel's last word lies in a register until
/// the link takes it.
TakenAt stepped(const CableSettings& settings, const GapsOfBoth& patterns) {
  DuplexCycleLink link(settings.link, static_cast<std::size_t>(settings.latency));
  for (int cycle = 0; cycle < 200 + 10 * settings.latency; ++cycle) link.step({}, {});  // comes up
  TakenAt times;
  std::array<std::size_t, 2> written{};
  std::array<int, 2> writes_from{};
  std::array<int, 2> takes_from{};
  for (const std::size_t i : {0U, 1U}) {
    writes_from.at(i) = patterns.at(i).writes.front();
    takes_from.at(i) = patterns.at(i).takes.front();
  }
  for (int now = 0; now < 100000; ++now) {
    std::array<LinkEnd::Input, 2> inputs{};
    for (const std::size_t i : {0U, 1U}) {
      inputs.at(i).source_valid = written.at(i) < patterns.at(i).writes.size() && now >= writes_from.at(i);
      inputs.at(i).sink_ready = times.at(i).size() < patterns.at(i).takes.size() && now >= takes_from.at(i);
    }
    const auto cycle = link.step(inputs[0], inputs[1]);
    bool is_done = true;
    for (const std::size_t i : {0U, 1U}) {
      const Gaps& pattern = patterns.at(i);
      if (inputs.at(i).source_valid && cycle.ends.at(i).source_ready &&
          ++written.at(i) < pattern.writes.size())
        writes_from.at(i) = std::max(writes_from.at(i) + 1 + pattern.writes[written.at(i)], now + 1);
      if (inputs.at(i).sink_ready && cycle.ends.at(i).sink_valid) {
        times.at(i).push_back(now);
        if (times.at(i).size() < pattern.takes.size())
          takes_from.at(i) = now + 1 + pattern.takes[times.at(i).size()];
      }
      is_done = is_done && times.at(i).size() == pattern.takes.size();
    }
    if (is_done) break;
  }
  return times;
}

TakenAt run_by_kernels(const CableSettings& settings, const GapsOfBoth& patterns, int workers) {
  const auto fabric = cable(settings, workers);
  std::array hosts{std::make_unique<Host>(fabric, 0, kDevice), std::make_unique<Host>(fabric, 1, kDevice)};
  Link<int> links[] = {hosts[0]->open<int>(0), hosts[1]->open<int>(0)};
  TakenAt times;
  for (const std::size_t i : {0U, 1U}) {
    auto& [out, in] = links[i];
    hosts.at(i)->start("send", {}, [&out = out, &pattern = patterns.at(i)] {
      int number = 0;
      for (const int gap : pattern.writes) {
        spend_cycles(gap + (number > 0 ? 1 : 0));
        out.write(number++);
      }
    });
    hosts.at(i)->start("receive", {}, [&in = in, &pattern = patterns.at(i), &taken = times.at(i)] {
      for (const int gap : pattern.takes) {
        spend_cycles(gap + (taken.empty() ? 0 : 1));
        EXPECT_EQ(in.read(), static_cast<int>(taken.size()));
        taken.push_back(static_cast<int>(kernel_here()->clock / kCycle));
      }
    });
  }
  finish(*hosts[0], *hosts[1]);
  return times;
}

CableSettings random_settings(std::mt19937& draw) {
  const auto number = [&draw](unsigned from, unsigned to) {
    return std::uniform_int_distribution<unsigned>(from, to)(draw);
  };
  CableSettings settings;
  settings.latency = static_cast<int>(number(1, 20));
  LinkParameters& link = settings.link;
  link.packet_flits = number(1, 8);
  link.credit_flits =
      number(1, std::min<unsigned>(link.packet_flits, static_cast<unsigned>(settings.latency)));
  link.receive_flits = link.packet_flits + link.credit_flits - 1 + number(0, 30);
  link.timeout = number(1, 20);
  return settings;
}

TEST(CreditCable, KernelsTakeWordsInTheCyclesOfTheLinkSteppedByCycle) {
  std::mt19937 draw(1);
  const auto gaps = [&draw] {
    const int longest = std::uniform_int_distribution(0, 6)(draw);
    std::vector<int> found(80);
    for (int& gap : found) gap = std::uniform_int_distribution(0, longest)(draw);
    return found;
  };
  for (int round = 0; round < kRandomLinks; ++round) {
    const CableSettings settings = random_settings(draw);
    const GapsOfBoth patterns{Gaps{gaps(), gaps()}, Gaps{gaps(), gaps()}};
    EXPECT_EQ(run_by_kernels(settings, patterns, 1 + round % 2), stepped(settings, patterns)) << round;
  }
}

struct Wide {
  std::array<int, 20> numbers{};  // 80 bytes: three flits
};

TEST(CreditCable, AWordOfSeveralFlitsArrivesWhole) {
  const CableSettings settings{.link = {.packet_flits = 8, .receive_flits = 64, .credit_flits = 4},
                               .latency = 5};
  const auto fabric = cable(settings);
  Host sender(fabric, 0, kDevice);
  Host receiver(fabric, 1, kDevice);
  auto out = sender.open<Wide>(0);
  auto in = receiver.open<Wide>(0);
  constexpr int kWords = 1000;
  sender.start("send", {}, [&] {
    for (int i = 0; i < kWords; ++i)
      out.out.write({{i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -i}});
  });
  int wrong = 0;
  const auto taken = receiver.start("receive", {}, [&] {
    for (int i = 0; i < kWords; ++i) {
      const Wide word = in.in.read();
      wrong += word.numbers.front() != i || word.numbers.back() != -i ? 1 : 0;
    }
  });
  finish(sender, receiver);
  EXPECT_EQ(wrong, 0);
  // Eight data flits take nine cycles.
  EXPECT_NEAR(taken.times().ended * 1e9, kWords * 3 * 9 / 8.0, 40);
}

/// Times follow from each other where links have credits and the cycles of a packet's header; by cycle they
/// are the same but for the start and the end of a stream.
TEST(CreditCable, LongStreamsTakeTheTimeOfTheFastForm) {
  static constexpr int kWords = 20000;
  const auto seconds = [](FlowSettings::Kind kind, std::size_t overhead) {
    FlowSettings flow{.kind = kind};
    flow.credit_link = {.packet = 32, .receive = 512, .update = 32, .timeout = 64, .overhead = overhead};
    const auto fabric = std::make_shared<Fabric>(
        FabricSettings{.devices = 2, .topology = network::pair(), .link = {82e-9, 1e9, kFlitBytes, flow}});
    Host sender(fabric, 0, kDevice);
    Host receiver(fabric, 1, kDevice);
    auto out = sender.open<int>(0);
    auto in = receiver.open<int>(0);
    sender.start("send", {}, produce, out.out, kWords);
    const auto taken = receiver.start("sum", {}, [&] { sum(in.in, kWords); });
    finish(sender, receiver);
    return taken.times().ended;
  };
  for (const std::size_t overhead : {1U, 4U}) {
    const double fast = seconds(FlowSettings::Kind::kCredit, overhead);
    const double exact = seconds(FlowSettings::Kind::kCreditLink, overhead);
    EXPECT_NEAR(exact / fast, 1, 0.005) << overhead;
    EXPECT_NEAR(fast * 1e9, kWords * (32.0 + static_cast<double>(overhead)) / 32, 100) << overhead;
  }
}

TEST(CreditCable, ManyDevicesFitIntoAProcess) {
  constexpr int kDevices = 64;
  FabricSettings settings = ring_of(kDevices, network::flow_settings("credit-link"));
  const auto fabric = std::make_shared<Fabric>(settings);
  std::vector<std::jthread> threads;
  std::vector<int> sums(kDevices);
  for (int i = 0; i < kDevices; ++i) {
    threads.emplace_back([&, i] {
      Host host(fabric, i, kDevice);
      auto next = host.open<int>(0);
      auto before = host.open<int>(1);
      host.start("send", {}, produce, next.out, 100);
      host.start("sum", {}, [&] { sums[static_cast<std::size_t>(i)] = sum(before.in, 100); });
      host.finish();
    });
  }
  threads.clear();
  EXPECT_EQ(sums, std::vector<int>(kDevices, 99 * 100 / 2));
}

TEST(CreditCable, WhatCannotWorkIsRefusedInOneLine) {
  const auto refusal = [](const std::string& flow, double width) -> std::string {
    const auto fabric = std::make_shared<Fabric>(FabricSettings{
        .devices = 2, .topology = network::pair(), .link = {1e-7, 1e9, width, network::flow_settings(flow)}});
    Host host(fabric, 0, kDevice);
    try {
      host.open<int>(0);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("credit-link:32,63,32", kFlitBytes), "");
  EXPECT_NE(refusal("credit-link:32,62,32", kFlitBytes).find("wait for ever"), std::string::npos);
  EXPECT_NE(refusal("credit-link", 4).find("flits of 32 bits"), std::string::npos);
  EXPECT_NE(refusal("credit-link:32,99999999999,32", kFlitBytes).find("receive buffer"), std::string::npos);
}

}  // namespace
}  // namespace fabricmark::dataflow
