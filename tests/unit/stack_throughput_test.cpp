// How fast TCP is by its window, at the round trips of described systems.
#include <algorithm>

#include "packet_support.hpp"
#include "stack_support.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::kByte;
using test::kRate;
using test::StackRun;

/// Of a long message: from what twice as many bytes take longer.
double bytes_per_second(const Topology& topology, const StackSettings& settings, std::uint64_t bytes) {
  const auto time = [&](std::uint64_t count) {
    return seconds(StackRun(topology, settings).time_of(0, 1, count));
  };
  return static_cast<double>(bytes) / (time(2 * bytes) - time(bytes));
}

TEST(StackThroughput, TcpIsAWindowEachRoundTripOrTheWire) {
  bool is_window = false;
  bool is_wire = false;
  for (const Time node : {Time{0}, 1000 * kByte, 5000 * kByte}) {
    for (const Time receiver : {Time{0}, 2000 * kByte}) {
      for (const std::uint64_t packets : {1U, 2U, 7U, 40U, 400U}) {
        StackSettings settings{.protocol = Protocol::kTcp,
                               .costs = {.node_latency = node,
                                         .cable_latency = 100 * kByte,
                                         .switch_latency = 10 * kByte,
                                         .bytes_per_second = kRate,
                                         .header_bytes = 4,
                                         .mtu_bytes = 64},
                               .window_bytes = 64 * packets,
                               .receive_latency = receiver};
        // A packet over two cables and the switch, then its acknowledgement.
        const Time round_trip = 2 * (node + 210 * kByte) + 68 * kByte + 4 * kByte + receiver;
        const double by_window = static_cast<double>(settings.window_bytes) / seconds(round_trip);
        const double by_wire = kRate * 64 / 68;
        is_window = is_window || by_window < by_wire;
        is_wire = is_wire || by_window > by_wire;
        const double expected = std::min(by_window, by_wire);
        const double found = bytes_per_second(leaf_spine(1, 0, 2), settings, settings.window_bytes * 50);
        EXPECT_NEAR(found, expected, 0.05 * expected) << node << ", " << receiver << ", " << packets;
        // What the window does not take waits for it to be all a packet's.
        settings.window_bytes += 63;
        const double odd = bytes_per_second(leaf_spine(1, 0, 2), settings, settings.window_bytes * 50);
        EXPECT_NEAR(odd, expected, 0.05 * expected) << node << ", " << receiver << ", " << packets;
      }
    }
  }
  EXPECT_TRUE(is_window);
  EXPECT_TRUE(is_wire);
}

/// ACCL over TCP and an Ethernet switch (Meyer 2024, sections 5.1.4 and 5.1.5; systems/networks/accl_tcp_*):
/// 12.5 GB/s, 1.82 us from device to device and 1 us of the switch, 1.7 us in the receive buffer (l_m).
StackSettings accl(std::uint64_t mtu, std::uint64_t window) {
  return {.protocol = Protocol::kTcp,
          .costs = {.node_latency = from_seconds(1.82e-6),
                    .switch_latency = from_seconds(1e-6),
                    .bytes_per_second = 12.5e9,
                    .header_bytes = 78,
                    .mtu_bytes = mtu},
          .window_bytes = window,
          .receive_latency = from_seconds(1.7e-6)};
}

double accl_throughput(std::uint64_t mtu, std::uint64_t window) {
  return bytes_per_second(leaf_spine(1, 0, 2), accl(mtu, window), std::uint64_t{8} << 20U);
}

TEST(StackThroughput, AcclOverTcpIsAsFastAsMeasured) {
  constexpr std::uint64_t kScaled = std::uint64_t{1} << 20U;
  const double unscaled = accl_throughput(1460, 65535);
  const double scaled = accl_throughput(1460, kScaled);
  const double jumbo = accl_throughput(8960, kScaled);
  // Measured without window scaling: 8.5 GB/s; with both: 12.3 GB/s.
  EXPECT_NEAR(unscaled, 8.5e9, 0.02 * 8.5e9);
  EXPECT_LT(scaled, 12e9);
  EXPECT_GT(scaled, unscaled);
  EXPECT_NEAR(jumbo, 12.3e9, 0.02 * 12.3e9);
}

TEST(StackThroughput, TheComparisonSeesAnOpeningThatDoesNotWaitForTheReceiver) {
  StackSettings settings = accl(1460, 65535);
  settings.receive_latency = 0;
  const double found = bytes_per_second(leaf_spine(1, 0, 2), settings, std::uint64_t{8} << 20U);
  EXPECT_GT(found, 1.1 * 8.5e9);
}

TEST(StackThroughput, SessionsHaveAWindowEach) {
  // To two receivers at once, which one window would not fill.
  StackSettings settings = accl(1460, 16 * 1460);
  const double one = bytes_per_second(leaf_spine(1, 0, 3), settings, std::uint64_t{1} << 20U);
  const auto time_of_both = [&](std::uint64_t bytes) {
    StackRun run(leaf_spine(1, 0, 3), settings);
    run.send({0, 0, 1, 1, bytes});
    run.send({0, 0, 2, 2, bytes});
    run.run();
    return seconds(run.arrived.back().time);
  };
  const double bytes = 1 << 20;
  const double each = bytes / (time_of_both(2 << 20) - time_of_both(1 << 20));
  EXPECT_NEAR(each, one, 0.01 * one);
}

}  // namespace

}  // namespace fabricmark::network
