#include "board/links/direct_links.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/host.hpp"
#include "board/links/link_caller.hpp"

namespace fabricmark::board {

namespace {

/// For kernels of this process that compute for long. Others pass words, of which threads of their own would
/// have to tell each other at every turn.
int threads(const runtime::Context& context) {
  if (context.ranks().kind() == "mpi") return 1;
  return usable_cores();
}

std::string end_name(const network::Port& port) {
  return fmt::format("device {}, port {}", port.node, port.port);
}

/// What the kernels' streams join. Where frames carry them, a board's port is no limit.
network::Topology cabled(const runtime::Context& context, const dataflow::Described& system,
                         const Joining& joining) {
  std::optional<network::Topology> named = named_topology(context);
  if (named && joining.needs_circuits) named = with_circuits(std::move(*named), joining.circuits);
  network::Topology topology = named.value_or(joining.circuits);
  if (!system.frames) topology.check_ports(system.links);
  return topology;
}

/// The cables and switches of frames, of which the ranks are the first devices.
std::optional<network::Topology> switched(const runtime::Context& context,
                                          const dataflow::Described& system) {
  if (!system.frames) return std::nullopt;
  const int ranks = context.ranks().size();
  const bool has_sizes = system.topology.find(':') != std::string::npos;
  network::Topology topology = network::make_topology(system.topology, has_sizes ? 0 : ranks);
  if (topology.devices() < ranks) {
    throw bad_use(
        fmt::format("topology {} has {} devices for {} ranks", topology.name(), topology.devices(), ranks),
        "start fewer ranks");
  }
  return topology;
}

}  // namespace

network::Topology with_circuits(network::Topology named, const network::Topology& circuits) {
  for (const network::Cable& cable : circuits.cables()) {
    for (const auto& [from, to] : {std::pair(cable.a, cable.b), std::pair(cable.b, cable.a)}) {
      const auto found = named.neighbour(from);
      if (found == to) continue;
      throw bad_use(
          fmt::format("{}: the cable from {} has to lead to {}, but {}", named.name(), end_name(from),
                      end_name(to), found ? "leads to " + end_name(*found) : std::string("there is none")),
          fmt::format("plug it in there, or leave out --topology for {}", circuits.name()));
    }
  }
  return named;
}

dataflow::Described described_links(const runtime::Context& context) {
  const runtime::SystemPlace& place = system_of(context);
  return dataflow::described(place.file, context.parameters().text("transport"), place.bitstream);
}

DirectLinks::DirectLinks(const runtime::Context& context, const dataflow::Described& system,
                         const Joining& joining)
    : KernelLinks(context, system.device,
                  {.topology = cabled(context, system, joining),
                   .link = system.link,
                   .network = system.frames,
                   .switched = switched(context, system),
                   .threads = threads(context)}) {}

void DirectLinks::opened(int port) {
  if (first_port_ < 0) first_port_ = port;
}

void DirectLinks::corrupt(const std::optional<network::MessageFault>& fault) {
  if (fault && first_port_ >= 0) fabric().corrupt({host().device(), first_port_}, *fault);
}

std::unique_ptr<collectives::Caller> DirectLinks::make_collective_caller() {
  const network::Topology& topology = *fabric().settings().topology;
  const int own = host().device();
  for (int port = 0; port < topology.ports(own) && first_port_ < 0; ++port) {
    const auto other = topology.neighbour({own, port});
    if (other && other->node != own) opened(port);
  }
  return std::make_unique<collectives::LinkCaller>(fabric(), host());
}

}  // namespace fabricmark::board
