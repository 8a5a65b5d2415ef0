#pragma once

#include <memory>
#include <vector>

#include "network/packet_network.hpp"

namespace fabricmark::test {

using network::Delivery;
using network::PacketCosts;
using network::PacketNetwork;
using network::Time;
using network::Topology;

/// 1 byte takes 1 ns, so that times are easy to derive.
inline constexpr double kRate = 1e9;
inline constexpr Time kByte = 1'000'000;

/// A packet network and what it delivered, in order.
struct Network {
  Network(Topology made, const PacketCosts& costs)
      : topology(std::make_unique<Topology>(std::move(made))),
        network(std::make_unique<PacketNetwork>(*topology, costs,
                                                [this](const Delivery& one) { delivered.push_back(one); })) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  void run() { network->advance_until(network::kEndOfTime); }
  /// When a message that is sent at 0 by itself has arrived.
  Time time_of(int from, int to, std::uint64_t bytes) {
    network->inject(0, from, to, bytes, 0);
    run();
    return delivered.back().time;
  }

  std::unique_ptr<Topology> topology;
  std::vector<Delivery> delivered;
  std::unique_ptr<PacketNetwork> network;
};

inline Time alone(Topology topology, const PacketCosts& costs, int from, int to, std::uint64_t bytes) {
  return Network(std::move(topology), costs).time_of(from, to, bytes);
}

}  // namespace fabricmark::test
