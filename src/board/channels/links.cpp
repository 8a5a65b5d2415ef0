// Direct links between kernels, with the flow control that the user chooses.
#include "board/links/direct_links.hpp"
#include "network/flow_control.hpp"

namespace fabricmark::channels {

std::unique_ptr<board::KernelLinks> make_links(const runtime::Context& context,
                                               const board::Joining& joining) {
  dataflow::Described system = board::described_links(context);
  const auto of_system = system.link.flow.credit_link;
  system.link.flow = network::flow_settings(context.parameters().text("flow"));
  system.link.flow.credit_link = system.link.flow.credit_link.or_else(of_system);
  return std::make_unique<board::DirectLinks>(context, system, joining);
}

}  // namespace fabricmark::channels
