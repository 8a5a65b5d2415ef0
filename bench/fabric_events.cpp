// How fast the fabric's core of events is on one core: events a second that are scheduled, taken in order and
// handled. Every event schedules another one, so that so many stay pending: at a random time, or each at the
// same one. Usage: bench_fabric_events [REPETITIONS]; prints the best rates as JSON.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/random_bits.hpp"
#include "best_rate.hpp"
#include "network/event_core.hpp"
#include "network/packet_network.hpp"

namespace {

using namespace fabricmark;

struct Holding {
  network::EventCore core;
  std::uint64_t left = 0;
  bool is_random = true;
  static void handle(void* owner, const network::Event& event) {
    auto& holding = *static_cast<Holding*>(owner);
    if (holding.left == 0) return;
    --holding.left;
    network::Event next = event;
    next.sequence = holding.left;
    next.value = mixed_bits(event.value + kRandomStep);
    next.time =
        network::later(event.time, holding.is_random ? static_cast<network::Time>(next.value >> 44U) : 1);
    holding.core.schedule(next);
  }
};

double events_per_second(int pending, bool is_random, int repetitions) {
  constexpr std::uint64_t kEvents = 2'000'000;
  return best_rate(repetitions, static_cast<double>(kEvents), [&] {
    Holding holding;
    holding.left = kEvents - pending;
    holding.is_random = is_random;
    for (int i = 0; i < pending; ++i) {
      holding.core.schedule({.time = 0,
                             .device = static_cast<std::uint32_t>(i),
                             .handle = Holding::handle,
                             .owner = &holding,
                             .value = static_cast<std::uint64_t>(i)});
    }
    holding.core.run();
  });
}

/// Events a second of a network of packets: every device of an 8 x 8 torus sends to random ones, 16 frames
/// each time.
double packet_events_per_second(network::Buffering buffering, int repetitions) {
  constexpr int kRows = 8;
  constexpr std::uint64_t kMessages = 200;
  const network::Topology topology = network::torus(kRows, kRows);
  network::PacketCosts costs{.node_latency = network::from_seconds(500e-9),
                             .cable_latency = network::from_seconds(100e-9),
                             .bytes_per_second = 12.5e9,
                             .header_bytes = 38,
                             .mtu_bytes = 1500,
                             .buffering = buffering,
                             .buffer_bytes = 65536};
  std::uint64_t events = 0;
  const double runs = best_rate(repetitions, 1, [&] {
    network::PacketNetwork network(topology, costs, [](const network::Delivery&) {});
    for (int device = 0; device < topology.devices(); ++device) {
      for (std::uint64_t i = 0; i < kMessages; ++i) {
        const std::uint64_t id = static_cast<std::uint64_t>(device) * kMessages + i;
        const auto to =
            static_cast<int>(mixed_bits(id * kRandomStep) % static_cast<unsigned>(topology.devices()));
        network.inject(0, device, to, 16 * costs.mtu_bytes, id);
      }
    }
    network.advance_until(network::kEndOfTime);
    events = network.events();
  });
  return runs * static_cast<double>(events);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = std::max(1, argc > 1 ? std::atoi(argv[1]) : 5);
  std::printf("{");
  for (const int pending : {16, 1024, 65536}) {
    std::printf("\"pending_%d\": %.6g, ", pending, events_per_second(pending, true, repetitions));
  }
  std::printf("\"ties_1024\": %.6g, ", events_per_second(1024, false, repetitions));
  std::printf("\"packets_unlimited\": %.6g, ",
              packet_events_per_second(network::Buffering::kUnlimited, repetitions));
  std::printf("\"packets_credits\": %.6g}\n",
              packet_events_per_second(network::Buffering::kCredits, repetitions));
}
