// How long messages of several sizes take from device 0 to all others of a described network, one at a time:
// for the test that compares them with the closed forms of the models. Writes JSON. Usage: packet_times FILE
// NETWORK TOPOLOGY BYTES...; FILE: of `fabricmark systems export`, TOPOLOGY: "" for the file's.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "network/network_costs.hpp"

namespace {

using namespace fabricmark;

nlohmann::json times(const std::string& file, const std::string& network, const std::string& text,
                     const std::vector<std::uint64_t>& sizes) {
  const network::NetworkCosts costs = network::load_network_costs(file, network);
  const network::Topology topology = network::make_topology(text.empty() ? costs.topology : text);
  topology.check_ports(costs.board_ports);
  nlohmann::json found = nlohmann::json::array();
  network::Time arrived = 0;
  network::PacketNetwork packets(topology, network::packet_costs(costs),
                                 [&](const network::Delivery& one) { arrived = one.time; });
  for (int to = 1; to < topology.devices(); ++to) {
    const network::Hops hops = topology.hops(0, to);
    for (const std::uint64_t bytes : sizes) {
      const network::Time begin = arrived;
      packets.inject(network::later(begin, network::from_seconds(costs.start_seconds)), 0, to, bytes, 0);
      packets.advance_until(network::kEndOfTime);
      found.push_back({{"cables", hops.cables},
                       {"switches", hops.switches},
                       {"devices", hops.devices},
                       {"bytes", bytes},
                       {"seconds", network::seconds(arrived - begin)}});
    }
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 4) return 2;
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 3; i < words.size(); ++i)
    sizes.push_back(std::strtoull(words[i].c_str(), nullptr, 10));
  try {
    std::cout << times(words[0], words[1], words[2], sizes) << '\n';
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
  return 0;
}
