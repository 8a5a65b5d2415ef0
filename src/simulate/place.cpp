#include "simulate/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/random_bits.hpp"

namespace fabricmark::simulate {

namespace {

/// One of each switch in turn; of devices without a switch as far from each other as it goes.
std::vector<int> in_turns(const network::Topology& topology, int needed) {
  std::vector<std::vector<int>> of_switch(static_cast<std::size_t>(topology.nodes()));
  for (int device = 0; device < topology.devices(); ++device) {
    const int next = topology.neighbour({device, topology.next_port(device, device == 0 ? 1 : 0)})->node;
    of_switch[static_cast<std::size_t>(next)].push_back(device);
  }
  std::vector<int> found;
  if (topology.switches() == 0) {
    for (int i = 0; i < needed; ++i)
      found.push_back(static_cast<int>(static_cast<std::int64_t>(i) * topology.devices() / needed));
    return found;
  }
  for (std::size_t turn = 0; std::cmp_less(found.size(), needed); ++turn) {
    for (const std::vector<int>& devices : of_switch) {
      if (turn < devices.size()) found.push_back(devices[turn]);
    }
  }
  return found;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\''; });
  return text;
}

}  // namespace

void shuffle(std::vector<int>& devices, std::uint64_t seed) {
  for (std::size_t left = devices.size(); left > 1; --left)
    std::swap(devices[left - 1], devices[mixed_bits(seed + left * kRandomStep) % left]);
}

std::vector<int> placed(const network::Topology& topology, int ranks, int ranks_per_device,
                        const std::string& how, std::uint64_t seed) {
  if (ranks < 2 || ranks_per_device < 1)
    throw bad_use(fmt::format("{} ranks, {} a device", ranks, ranks_per_device),
                  "use 2 or more, and 1 or more");
  const int needed = (ranks - 1) / ranks_per_device + 1;
  if (needed > topology.devices()) {
    throw bad_use(fmt::format("{} ranks need {} devices, and {} has {}", ranks, needed, topology.name(),
                              topology.devices()),
                  "use fewer ranks, or a larger topology");
  }
  std::vector<int> devices(static_cast<std::size_t>(topology.devices()));
  std::iota(devices.begin(), devices.end(), 0);
  if (how == "spread") {
    devices = in_turns(topology, needed);
  } else if (how == "random") {
    shuffle(devices, seed);
  } else if (how != "packed") {
    throw bad_use(fmt::format("'{}' is no placement", how), "use packed, spread or random");
  }
  std::vector<int> found;
  for (int rank = 0; rank < ranks; ++rank)
    found.push_back(devices[static_cast<std::size_t>(rank / ranks_per_device)]);
  return found;
}

std::vector<std::size_t> cables_named(const network::Topology& topology,
                                      const std::vector<std::string>& names) {
  std::unordered_map<std::string, int> nodes;
  for (int node = 0; node < topology.nodes(); ++node) nodes[without_spaces(topology.node_name(node))] = node;
  std::vector<std::size_t> found;
  for (const std::string& name : names) {
    const auto colon = name.find(':');
    const std::string first = without_spaces(name.substr(0, colon));
    const std::string second = colon == std::string::npos ? "" : without_spaces(name.substr(colon + 1));
    for (const std::string& end : {first, second}) {
      if (nodes.contains(end)) continue;
      throw bad_use(fmt::format("{} has no node '{}'", topology.name(), end),
                    fmt::format("name both ends of a cable, as '{}:{}'", topology.node_name(0),
                                topology.node_name(topology.nodes() - 1)));
    }
    bool is_there = false;
    for (int port = 0; port < topology.ports(nodes[first]) && !is_there; ++port) {
      const network::Port here{nodes[first], port};
      const auto other = topology.neighbour(here);
      if (!other || other->node != nodes[second]) continue;
      const std::size_t cable = *topology.cable(here);
      is_there = std::ranges::find(found, cable) == found.end();
      if (is_there) found.push_back(cable);
    }
    if (!is_there) {
      throw bad_use(fmt::format("{} has no cable from {} to {} that could fail", topology.name(),
                                topology.node_name(nodes[first]), topology.node_name(nodes[second])),
                    "name the ends of one, and each cable once");
    }
  }
  return found;
}

}  // namespace fabricmark::simulate
