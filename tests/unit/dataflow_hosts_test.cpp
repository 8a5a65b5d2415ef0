// Hosts of dataflow kernels that are ranks: what they wait for beside their kernels.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/error.hpp"
#include "dataflow_support.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::dataflow {
namespace {

FabricSettings two_devices() { return {.topology = fabric::pair(), .link = {100e-9, 1e9, 4, {}}}; }

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
