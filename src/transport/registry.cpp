#include "transport/registry.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.hpp"
#include "transport/cached_protocols.hpp"
#include "transport/faulty_transport.hpp"
#include "transport/simulated_transport.hpp"
#include "transport/transport_makers.hpp"  // written by CMake: the folders that have a transport.toml

namespace fabricmark::transport {

namespace {

std::unique_ptr<Transport> make_named(const std::string& name, const runtime::Context& context,
                                      const TransportUse& use) {
  std::vector<std::string> names;
  for (const auto& [known, make] : kTransportMakers) {
    if (known == name) return make(context, use);
    names.emplace_back(known);
  }
  throw bad_use(fmt::format("there is no transport '{}'", name),
                fmt::format("use {}", fmt::join(names, " or ")));
}

}  // namespace

Error no_costs_over(const std::string& transport) {
  return bad_use(
      fmt::format("nothing is known of what messages over the transport {} cost on a described system",
                  transport),
      "use --transport host");
}

std::unique_ptr<Transport> make_transport(const runtime::Context& context, const TransportUse& asked) {
  TransportUse use = asked;
  if (!context.computes()) use.largest_bytes = 0;  // there is nothing to measure
  std::unique_ptr<Transport> transport = make_named(context.parameters().text("transport"), context, use);
  if (use.space && !transport->supports(*use.space, *use.space, Operation::kMessage)) {
    throw bad_use(fmt::format("the transport {} moves no messages between {}", transport->name(),
                              device::name(*use.space)),
                  "choose another --transport");
  }
  if (use.largest_bytes > 0) {
    const SettledProtocols settled =
        settle_protocols(*transport, context.device().info(), use.largest_bytes, use.pattern);
    if (!settled.said.empty()) context.remark(settled.said);
  }
  const std::optional<runtime::Fault>& fault = context.fault();
  if (fault && is_message_fault(*fault) && (!fault->rank || *fault->rank == context.ranks().rank())) {
    transport = std::make_unique<FaultyTransport>(std::move(transport), *fault, context.repetition());
  }
  if (context.costs() == nullptr || !transport->is_over_hosts()) return transport;
  return std::make_unique<SimulatedTransport>(std::move(transport), context, waiting(context, use));
}

}  // namespace fabricmark::transport
