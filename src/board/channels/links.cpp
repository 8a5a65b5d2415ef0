// Direct links between kernels, with the flow control that the user chooses.
#include <fmt/format.h>

#include <cstdint>

#include "base/error.hpp"
#include "board/links/direct_links.hpp"
#include "network/flow_control.hpp"

namespace fabricmark::channels {

namespace {

using Kind = network::FlowSettings::Kind;

/// Over packets there is no other flow control than a credit link's, whose packets have to fit into a frame.
void use_frames(dataflow::Described& system) {
  network::FlowSettings& flow = system.link.flow;
  if (flow.kind == Kind::kCredit && flow.credits == 0) flow.kind = Kind::kCreditLink;  // the default
  if (flow.kind != Kind::kCreditLink)
    throw bad_use("streams cross a network of packets as a credit link", "use --flow credit-link");
  network::PacketCosts& costs = system.frames->costs;
  const auto frame =
      static_cast<std::uint64_t>(static_cast<double>(flow.credit_link.packet + 1) * system.link.width_bytes);
  if (costs.mtu_bytes > 0 && frame > costs.mtu_bytes) {
    throw bad_use(fmt::format("a packet of {} data flits takes {} B, and a frame {} B",
                              flow.credit_link.packet, frame, costs.mtu_bytes),
                  "choose fewer in --flow credit-link:D,RX,DCU, or a network with larger frames");
  }
  costs.mtu_bytes = frame;
}

}  // namespace

std::unique_ptr<board::KernelLinks> make_links(const runtime::Context& context,
                                               const board::Joining& joining) {
  dataflow::Described system = board::described_links(context);
  const auto of_system = system.link.flow.credit_link;
  system.link.flow = network::flow_settings(context.parameters().text("flow"));
  system.link.flow.credit_link = system.link.flow.credit_link.or_else(of_system);
  if (system.link.flow.kind == Kind::kCreditLink && system.link.width_bytes <= 1)
    throw bad_use(
        "a credit link sends flits, and the system only says how many bytes a second its links take",
        "leave out --flow, or describe links.width and links.clock of the network");
  if (system.frames) use_frames(system);
  return std::make_unique<board::DirectLinks>(context, system, joining);
}

}  // namespace fabricmark::channels
