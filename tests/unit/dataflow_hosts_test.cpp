// Hosts of dataflow kernels that are ranks: what they wait for beside their kernels.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "dataflow_support.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::dataflow {
namespace {

FabricSettings two_devices() { return {.topology = network::pair(), .link = {100e-9, 1e9, 4, {}}}; }

void send(stream<int>& out) { out.write(42); }

void receive(stream<int>& in, int* word) { *word = in.read(); }

TEST(DataflowHosts, KernelsRunWhileOtherHostsWaitForRanks) {
  int word = 0;
  runtime::run_in_process(2, [&](runtime::Communicator& ranks) {
    const auto fabric = Fabric::join(ranks, two_devices());
    Host host(fabric, ranks.rank(), kDevice, &ranks);
    auto link = host.open<int>(0);
    ranks.barrier();
    if (ranks.is_root()) {
      host.start("send", {}, send, link.out);
      ranks.barrier();
    } else {
      host.start("receive", {}, receive, link.in, &word).wait();
      ranks.barrier();
    }
    host.finish();
    return 0;
  });
  EXPECT_EQ(word, 42);
}

TEST(DataflowHosts, TellFromWhenTillWhenTheirKernelsRan) {
  const DeviceCost slow_to_start{1e9, 30e-6, 0};
  const auto fabric = std::make_shared<Fabric>(FabricSettings{.devices = 1});
  Host host(fabric, 0, slow_to_start);
  host.finish();
  EXPECT_FALSE(host.finished().has_value());
  for (const std::int64_t cycles : {100, 5}) {
    const Time begin = host.now();
    host.start("first", {}, spend_cycles, cycles);
    host.start("second", {}, spend_cycles, cycles / 2);
    host.finish();
    ASSERT_TRUE(host.finished().has_value());
    EXPECT_EQ(host.finished()->first_start - begin, network::from_seconds(30e-6));
    EXPECT_EQ(host.finished()->last_end, host.finished()->first_start + cycles * kCycle);
    EXPECT_EQ(host.now(), host.finished()->last_end);
  }
}

TEST(DataflowHosts, StartKernelsBehindOthersWithoutWaiting) {
  const auto fabric = std::make_shared<Fabric>(FabricSettings{.devices = 1});
  Host host(fabric, 0, kDevice);
  const device::Event first = host.start("first", {}, spend_cycles, 100);
  const device::Event other = host.start("other", {}, spend_cycles, 70);
  const device::Event last = host.start("last", {.after = {first, other}}, spend_cycles, 5);
  EXPECT_EQ(host.now(), 0);
  last.wait();
  EXPECT_EQ(host.now(), 105 * kCycle);
  host.finish();
}

/// When each of many kernels that compute for long has ended, some of them behind others.
std::vector<double> ends_of_long_kernels(int threads) {
  constexpr int kKernels = 300;
  const auto fabric = std::make_shared<Fabric>(FabricSettings{.devices = 1, .threads = threads});
  Host host(fabric, 0, kDevice);
  std::vector<device::Event> events;
  std::vector<int> ran(kKernels);
  for (int i = 0; i < kKernels; ++i) {
    Start how{.is_long = true};
    if (i >= 40) how.after = {events[static_cast<std::size_t>(i) - 40]};
    events.push_back(host.start("long", how, [i, &ran] {
      ran[static_cast<std::size_t>(i)] = i;
      spend_cycles(i % 7 + 1);
    }));
  }
  host.finish();
  std::vector<double> ends;
  for (int i = 0; i < kKernels; ++i) {
    EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
    ends.push_back(events[static_cast<std::size_t>(i)].state()->times().ended);
  }
  return ends;
}

TEST(DataflowHosts, KernelsThatComputeForLongMayRunSideBySide) {
  const std::vector<double> expected = ends_of_long_kernels(1);
  for (const int threads : {2, 8}) EXPECT_EQ(ends_of_long_kernels(threads), expected) << threads;
}

TEST(DataflowHosts, AMessageThatIsUnderWayIsNoDeadlock) {
  for (int round = 0; round < 200; ++round) {
    runtime::run_in_process(2, [&](runtime::Communicator& ranks) {
      const auto fabric = Fabric::join(ranks, two_devices());
      Host host(fabric, ranks.rank(), kDevice, &ranks);
      auto link = host.open<int>(0);
      std::array<std::byte, 8> bytes{};
      int word = 0;
      if (ranks.is_root()) {
        auto request = ranks.start_receive(1, bytes, 1);
        ranks.wait(request, 1);
        host.start("send", {}, send, link.out);
      } else {
        auto request = ranks.start_send(0, bytes, 1);
        ranks.wait(request, 0);
        host.start("receive", {}, receive, link.in, &word).wait();
        EXPECT_EQ(word, 42);
      }
      host.finish();
      return 0;
    });
  }
}

TEST(DataflowHosts, ARankThatWaitsForOneThatWaitsForItsKernelIsNamedAtOnce) {
  std::array<std::string, 2> messages;
  runtime::run_in_process(2, [&](runtime::Communicator& ranks) {
    const auto fabric = Fabric::join(ranks, two_devices());
    Host host(fabric, ranks.rank(), kDevice, &ranks);
    auto link = host.open<int>(0);
    int word = 0;
    try {
      if (!ranks.is_root()) host.start("receive", {}, receive, link.in, &word).wait();
      ranks.barrier();  // the root would send after it
      host.start("send", {}, send, link.out);
      host.finish();
    } catch (const Error& error) {
      messages[static_cast<std::size_t>(ranks.rank())] = error.what();
    }
    return 0;
  });
  for (const std::string& message : messages) {
    EXPECT_NE(message.find(
                  "host (device 0) waits for another rank, receive (device 1) waits for a word of link 0:0 "
                  "to 1:0 (0 of"),
              std::string::npos)
        << message;
  }
}

TEST(DataflowHosts, WhatOneHostThrowsEndsTheWaitsOfAll) {
  bool has_ended = false;
  runtime::run_in_process(2, [&](runtime::Communicator& ranks) {
    try {
      const auto fabric = Fabric::join(ranks, two_devices());
      Host host(fabric, ranks.rank(), kDevice, &ranks);
      auto link = host.open<int>(0);
      if (ranks.is_root()) throw bad_use("a host's words", "mend it");
      int word = 0;
      host.start("receive", {}, receive, link.in, &word).wait();
    } catch (const runtime::PeerFailure&) {
      has_ended = true;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "a host's words; mend it");
    }
    return 0;
  });
  EXPECT_TRUE(has_ended);
}

}  // namespace
}  // namespace fabricmark::dataflow
