#include "network/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::network {

namespace {

constexpr Port kNowhere{.node = -1, .port = -1};
constexpr std::int16_t kFar = -1;

}  // namespace

Topology::Topology(std::string name, int devices, int switches, std::vector<Cable> cables,
                   std::vector<std::string> node_names)
    : Topology(Reach::kAll, std::move(name), devices, switches, std::move(cables), std::move(node_names)) {}

Topology Topology::circuits(std::string name, int devices, std::vector<Cable> cables) {
  return {Reach::kAny, std::move(name), devices, 0, std::move(cables), {}};
}

Topology Topology::without(std::vector<std::size_t> cables) const {
  std::ranges::sort(cables, std::greater<>());
  cables.erase(std::ranges::unique(cables).begin(), cables.end());
  std::vector<Cable> left = cables_;
  for (const std::size_t cable : cables) left.erase(left.begin() + static_cast<std::ptrdiff_t>(cable));
  return {reach_, name_, devices_, switches(), std::move(left), node_names_};
}

Topology::Topology(Reach reach, std::string name, int devices, int switches, std::vector<Cable> cables,
                   std::vector<std::string> node_names)
    : name_(std::move(name)),
      reach_(reach),
      devices_(devices),
      cables_(std::move(cables)),
      node_names_(std::move(node_names)) {
  if (devices < 1 || devices > kMostDevices || switches < 0 || switches > kMostDevices) {
    throw bad_use(fmt::format("{} has {} devices and {} switches", name_, devices, switches),
                  fmt::format("use 1 to {} devices, and no more switches", kMostDevices));
  }
  if (cables_.size() > kMostCables) {
    throw bad_use(fmt::format("{} has {} cables", name_, cables_.size()),
                  fmt::format("use at most {}", kMostCables));
  }
  first_port_.assign(static_cast<std::size_t>(devices + switches) + 1, 0);
  plug_in();
  find_levels();
  const std::size_t pairs = static_cast<std::size_t>(nodes()) * devices_;
  distance_.assign(pairs, kFar);
  next_.assign(pairs, -1);
  for (int device = 0; device < devices_; ++device) find_routes(device);
}

void Topology::plug_in() {
  std::vector<int> counts(nodes(), 0);
  for (const Cable& cable : cables_) {
    for (const Port end : {cable.a, cable.b}) counts[end.node] = std::max(counts[end.node], end.port + 1);
  }
  for (int node = 0; node < nodes(); ++node) first_port_[node + 1] = first_port_[node] + counts[node];
  other_end_.assign(all_ports(), kNowhere);
  cable_.assign(all_ports(), -1);
  for (std::size_t i = 0; i < cables_.size(); ++i) {
    const auto [a, b] = cables_[i];
    for (const auto& [here, there] : {std::pair(a, b), std::pair(b, a)}) {
      if (cable_[place(here)] >= 0) {
        throw bad_use(fmt::format("{}: {} has two cables", name_, port_name(here)),
                      "give each a port of its own");
      }
      cable_[place(here)] = static_cast<int>(i);
      other_end_[place(here)] = there;
    }
  }
  for (int device = 0; device < devices_; ++device) {
    if (ports(device) == 0 && reach_ == Reach::kAll) {
      throw bad_use(fmt::format("{}: {} has no cable", name_, node_name(device)),
                    "connect it, or leave it out");
    }
  }
}

void Topology::find_levels() {
  level_.assign(nodes(), kFar);
  std::vector<int> reached;
  for (int device = 0; device < devices_; ++device) reached.push_back(device);
  for (const int device : reached) level_[device] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const int node = reached[i];
    for (int port = 0; port < ports(node); ++port) {
      const int other = other_end_[first_port_[node] + port].node;
      if (other < 0 || level_[other] != kFar) continue;
      level_[other] = static_cast<std::int16_t>(level_[node] + 1);
      reached.push_back(other);
    }
  }
}

// Breadth first from the destination: all cables carry both ways.
void Topology::find_routes(int destination) {
  const auto entry = [&](int node) { return static_cast<std::size_t>(node) * devices_ + destination; };
  std::vector<int> reached{destination};
  distance_[entry(destination)] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const int node = reached[i];
    for (int port = 0; port < ports(node); ++port) {
      const int other = other_end_[first_port_[node] + port].node;
      if (other < 0 || distance_[entry(other)] != kFar) continue;
      distance_[entry(other)] = static_cast<std::int16_t>(distance_[entry(node)] + 1);
      reached.push_back(other);
    }
  }
  for (int device = 0; device < devices_; ++device) {
    if (distance_[entry(device)] == kFar && reach_ == Reach::kAll) {
      throw bad_use(
          fmt::format("{}: no cables lead from {} to {}", name_, node_name(device), node_name(destination)),
          "connect all devices, or make two topologies");
    }
  }
  std::vector<int> candidates;
  for (const int node : reached) next_[entry(node)] = chosen_port(node, destination, candidates);
}

std::vector<int> Topology::ports_towards(int node, int destination) const {
  std::vector<int> found;
  append_ports_towards(node, destination, found);
  return found;
}

void Topology::append_ports_towards(int node, int destination, std::vector<int>& found) const {
  for (int port = 0; port < ports(node); ++port) {
    const int other = other_end_[first_port_[node] + port].node;
    if (other < 0) continue;
    const bool leads_on =
        node == destination ? other == node : distance(other, destination) == distance(node, destination) - 1;
    if (leads_on) found.push_back(port);
  }
}

int Topology::chosen_port(int node, int destination, std::vector<int>& found) const {
  found.clear();
  append_ports_towards(node, destination, found);
  if (found.empty()) return -1;
  if (node == destination) return found.front();
  if (is_device(node)) {
    const auto next = [&](int port) { return other_end_[first_port_[node] + port].node; };
    const int neighbour = next(found.front());
    std::erase_if(found, [&](int port) { return next(port) != neighbour; });
  }
  // What comes here from a level below has been sorted by the digits below.
  std::size_t digits = destination;
  for (int level = 1; level < level_[node]; ++level) digits /= found.size();
  return found[digits % found.size()];
}

std::optional<Port> Topology::neighbour(Port port) const {
  if (port.node < 0 || port.node >= nodes() || port.port < 0 || port.port >= ports(port.node))
    return std::nullopt;
  const Port other = other_end_[place(port)];
  return other.node < 0 ? std::nullopt : std::optional(other);
}

std::optional<std::size_t> Topology::cable(Port port) const {
  return neighbour(port) ? std::optional<std::size_t>(cable_[place(port)]) : std::nullopt;
}

bool Topology::is_full_mesh() const {
  if (switches() > 0) return false;
  for (int from = 0; from < devices_; ++from) {
    for (int to = 0; to < from; ++to) {
      if (distance(from, to) != 1) return false;
    }
  }
  return true;
}

std::vector<Hop> Topology::route(int from, int to) const {
  check_device(from);
  check_device(to);
  std::vector<Hop> found;
  int node = from;
  do {
    const int port = next_port(node, to);
    if (port < 0) break;
    const Port out{node, port};
    found.push_back({out, other_end_[place(out)], static_cast<std::size_t>(cable_[place(out)])});
    node = found.back().in.node;
  } while (node != to);
  return found;
}

Hops Topology::hops(int from, int to) const {
  Hops found;
  for (const Hop& hop : route(from, to)) {
    ++found.cables;
    if (hop.in.node == to) break;
    ++(is_device(hop.in.node) ? found.devices : found.switches);
  }
  return found;
}

void Topology::check_ports(int board_ports) const {
  for (int device = 0; device < devices_; ++device) {
    if (ports(device) <= board_ports) continue;
    throw bad_use(fmt::format("{}: {} needs {} ports and its board has {}", name_, node_name(device),
                              ports(device), board_ports),
                  "use a topology with fewer neighbours or parallel cables, or another board");
  }
}

void Topology::check_device(int device) const {
  if (device >= 0 && device < devices_) return;
  throw bad_use(fmt::format("{} has no device {}", name_, device), fmt::format("use 0 to {}", devices_ - 1));
}

std::string Topology::node_name(int node) const {
  if (!node_names_.empty()) return node_names_[node];
  return is_device(node) ? fmt::format("device {}", node) : fmt::format("switch {}", node - devices_);
}

std::string Topology::port_name(Port port) const {
  return fmt::format("port {} of {}", port.port, node_name(port.node));
}

}  // namespace fabricmark::network
