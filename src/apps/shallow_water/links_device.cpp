// Halos over direct links: a cable to each neighbour (Faj et al. 2023).
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "apps/shallow_water/emulated_device.hpp"
#include "apps/shallow_water/gather.hpp"
#include "base/error.hpp"
#include "network/network_costs.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::shallow_water {

namespace {

/// Neighbours of each device, by rank. Collective.
std::vector<std::vector<std::int32_t>> all_neighbours(runtime::Communicator& ranks, const DevicePart& part) {
  std::vector<std::int32_t> own;
  for (const DevicePart::Neighbour& neighbour : part.neighbours) own.push_back(neighbour.rank);
  return all_elements(ranks, own);
}

void require_ports(const runtime::Context& context,
                   const std::vector<std::vector<std::int32_t>>& neighbours) {
  const auto most = std::ranges::max_element(neighbours, {}, &std::vector<std::int32_t>::size);
  int ports = kLinksOfDevice;
  if (const auto& system = context.system()) {
    const network::NetworkCosts network =
        network::load_network_costs(system->file, context.parameters().text("transport"));
    if (network.kind == "direct") ports = std::min(ports, network.links);  // else frames share one
  }
  if (most == neighbours.end() || most->size() <= static_cast<std::size_t>(ports)) return;
  throw bad_use(fmt::format("the partition of device {} has {} neighbours, and a board has {} ports",
                            most - neighbours.begin(), most->size(), ports),
                fmt::format("use fewer ranks, or --transport {}, which has no such limit",
                            runtime::transports_between({runtime::Between::kEngines}).front()));
}

/// Port n of a device leads to its n-th neighbour.
network::Topology cables_between(const std::vector<std::vector<std::int32_t>>& neighbours) {
  std::vector<network::Cable> cables;
  for (std::size_t device = 0; device < neighbours.size(); ++device) {
    for (std::size_t port = 0; port < neighbours[device].size(); ++port) {
      const auto other = static_cast<std::size_t>(neighbours[device][port]);
      if (other < device) continue;
      const auto there = std::ranges::find(neighbours[other], static_cast<std::int32_t>(device));
      cables.push_back({{static_cast<int>(device), static_cast<int>(port)},
                        {static_cast<int>(other), static_cast<int>(there - neighbours[other].begin())}});
    }
  }
  return network::Topology::circuits("a cable between each two neighbours of the mesh",
                                     static_cast<int>(neighbours.size()), std::move(cables));
}

class LinksDevice final : public EmulatedDevice {
 public:
  LinksDevice(const runtime::Context& context, const network::Topology& cables, DeviceKernels& kernels)
      : context_(context), board_(context, cables) {
    kernels.open_links(board_);
  }
  double advance(DeviceKernels& kernels, const Steps& steps, const Physics& physics,
                 const std::vector<Forcing>& forcing) override {
    const double before = context_.simulated_clock().seconds();
    board_.run(
        [&] {
          kernels.start(board_.host(), steps, physics, forcing);
          kernels.start_links(board_.host());
        },
        board::Counted::kKernels);
    return context_.simulated_clock().seconds() - before;
  }

 private:
  const runtime::Context& context_;
  board::Board board_;
};

}  // namespace

std::unique_ptr<EmulatedDevice> make_device_on_links(const runtime::Context& context, const DevicePart& part,
                                                     DeviceKernels& kernels) {
  const std::vector<std::vector<std::int32_t>> neighbours = all_neighbours(context.ranks(), part);
  require_ports(context, neighbours);
  return std::make_unique<LinksDevice>(context, cables_between(neighbours), kernels);
}

}  // namespace fabricmark::shallow_water
