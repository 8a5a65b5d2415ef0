#include "network/circuits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricmark::network {

namespace {

constexpr int kFree = -1;

}  // namespace

Circuits::Circuits(const Topology& topology) : topology_(topology), owner_(topology.cables().size(), kFree) {}

std::size_t Circuits::connect(int from, int to, int from_port, int to_port) {
  topology_.check_device(from);
  topology_.check_device(to);
  for (const Port port : {Port{from, from_port}, Port{to, to_port}}) {
    if (port.port == kAnyPort || topology_.neighbour(port)) continue;
    throw bad_use(fmt::format("{}: {} has no cable", topology_.name(), topology_.port_name(port)),
                  fmt::format("use another port; it has {}", topology_.ports(port.node)));
  }
  std::vector<bool> dead(topology_.nodes(), false);
  std::vector<Hop> hops;
  if (!find(from, to, from_port, to_port, dead, hops)) throw refusal(from, to, from_port, to_port);
  const std::size_t number = circuits_.size();
  for (const Hop& hop : hops) owner_[hop.cable] = static_cast<int>(number);
  circuits_.push_back({.from = from, .to = to, .hops = std::move(hops)});
  return number;
}

bool Circuits::find(int node, int to, int from_port, int to_port, std::vector<bool>& dead,
                    std::vector<Hop>& hops) const {
  if (node == to && !hops.empty()) return to_port == kAnyPort || hops.back().in.port == to_port;
  const bool is_first = hops.empty();
  std::vector<int> ports = topology_.ports_towards(node, to);
  const auto usual = std::ranges::find(ports, topology_.next_port(node, to));
  if (usual != ports.end()) std::rotate(ports.begin(), usual, usual + 1);
  for (const int port : ports) {
    const Port out{.node = node, .port = port};
    const std::size_t cable = *topology_.cable(out);
    const Port in = *topology_.neighbour(out);
    const bool is_chosen = !is_first || from_port == kAnyPort || port == from_port;
    if (!is_chosen || owner_[cable] != kFree || (in.node != to && dead[in.node])) continue;
    hops.push_back({out, in, cable});
    if (find(in.node, to, from_port, to_port, dead, hops)) return true;
    hops.pop_back();
  }
  dead[node] = true;
  return false;
}

Error Circuits::refusal(int from, int to, int from_port, int to_port) const {
  std::string wanted = fmt::format("{}: no circuit from {} to {}", topology_.name(),
                                   topology_.node_name(from), topology_.node_name(to));
  if (from_port != kAnyPort) wanted += fmt::format(", from its port {}", from_port);
  if (to_port != kAnyPort) wanted += fmt::format(", to its port {}", to_port);
  // The taken cable that is nearest to the start on the usual way, with the chosen port in place of the
  // first.
  std::vector<Port> ports;
  for (const Hop& hop : topology_.route(from, to)) ports.push_back(hop.out);
  if (from_port != kAnyPort) ports.insert(ports.begin(), Port{from, from_port});
  if (to_port != kAnyPort) ports.push_back(Port{to, to_port});
  for (const Port port : ports) {
    if (const Circuit* other = owner(port)) {
      return bad_use(fmt::format("{}: the cable in {} belongs to the circuit from {} to {}", wanted,
                                 topology_.port_name(port), topology_.node_name(other->from),
                                 topology_.node_name(other->to)),
                     "use other ports, or a topology with more cables");
    }
  }
  return bad_use(wanted + ": no shortest way has these ports", "leave out the ports, or use others");
}

void Circuits::release(std::size_t circuit) {
  std::ranges::replace(owner_, static_cast<int>(circuit), kFree);
}

const Circuit* Circuits::owner(Port port) const {
  const auto cable = topology_.cable(port);
  return cable && owner_[*cable] != kFree ? &circuits_[owner_[*cable]] : nullptr;
}

}  // namespace fabricmark::network
