#include "board/links/kernel_links.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::board {

namespace {

/// With a log of what takes time, where somebody asks for the timeline.
dataflow::FabricSettings with_log(dataflow::FabricSettings settings, const runtime::Context& context) {
  if (context.modelled_timeline() != nullptr) settings.log = std::make_shared<runtime::ActivityLog>();
  return settings;
}

}  // namespace

KernelLinks::KernelLinks(const runtime::Context& context, const dataflow::DeviceCost& cost,
                         dataflow::FabricSettings settings)
    : cost_(cost),
      fabric_(dataflow::Fabric::join(context.ranks(), with_log(std::move(settings), context))),
      host_(std::make_unique<dataflow::Host>(fabric_, context.ranks().rank(), cost, &context.ranks())) {}

KernelLinks::KernelLinks(const dataflow::DeviceCost& cost)
    : cost_(cost),
      fabric_(std::make_shared<dataflow::Fabric>(dataflow::FabricSettings{})),
      host_(std::make_unique<dataflow::Host>(fabric_, 0, cost)) {}

accl::Accl& KernelLinks::engine() { throw std::logic_error("the engine of a transport that has none"); }

const runtime::SystemPlace& system_of(const runtime::Context& context) {
  if (context.system()) return *context.system();
  throw bad_use(fmt::format("the transport {} without a system", context.parameters().text("transport")),
                "give one with --system: `fabricmark systems export noctua1 --output FILE` writes one");
}

std::optional<network::Topology> named_topology(const runtime::Context& context) {
  constexpr const char* kAsDesigned = "design";
  const std::string& named = context.parameters().text("topology");
  if (named == kAsDesigned) return std::nullopt;
  return network::make_topology(named, context.ranks().size());
}

}  // namespace fabricmark::board
