// How fast messages over packets are emulated on one core: packets with payload a second of a long transfer
// between two devices at a switch, with all their acknowledgements and timers. Usage: bench_stack
// [REPETITIONS]; prints the best rates as JSON.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "best_rate.hpp"
#include "network/stack/stack.hpp"
#include "network/topology.hpp"

namespace {

using namespace fabricmark;

/// ACCL's transports at 100 Gbit/s with IP packets of 1500 bytes.
network::StackSettings settings_of(network::Protocol protocol, double drop) {
  return {.protocol = protocol,
          .costs = {.node_latency = network::from_seconds(1.82e-6),
                    .switch_latency = network::from_seconds(1e-6),
                    .bytes_per_second = 12.5e9,
                    .header_bytes = 78,
                    .mtu_bytes = 1460},
          .window_bytes = std::uint64_t{1} << 20U,
          .faults = {.seed = 1, .drop = drop},
          .burst_bytes = 0};  // each packet by itself
}

double packets_per_second(network::Protocol protocol, double drop, int repetitions) {
  constexpr std::uint64_t kPackets = 500'000;
  const network::Topology topology = network::leaf_spine(1, 0, 2);
  const network::StackSettings settings = settings_of(protocol, drop);
  std::uint64_t arrived = 0;
  const double rate = best_rate(repetitions, static_cast<double>(kPackets), [&] {
    const auto stack = network::make_stack(
        topology, settings,
        {.arrived = [&arrived](const network::Stack::Arrival& arrival) { arrived += arrival.bytes; }});
    arrived = 0;
    stack->send(0, 0, 1, 1, kPackets * settings.costs.mtu_bytes);
    stack->advance_until(network::kEndOfTime);
  });
  const bool is_whole = arrived == kPackets * settings.costs.mtu_bytes;
  return is_whole ? rate : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 5;
  std::printf("{\"tcp\": %.6g, \"tcp, 1 %% lost\": %.6g, \"rdma\": %.6g, \"udp\": %.6g}\n",
              packets_per_second(network::Protocol::kTcp, 0, repetitions),
              packets_per_second(network::Protocol::kTcp, 0.01, repetitions),
              packets_per_second(network::Protocol::kRdma, 0, repetitions),
              packets_per_second(network::Protocol::kUdp, 0, repetitions));
}
