#include "fabric/transport.hpp"

#include "base/error.hpp"
#include "fabric/cpu_transport.hpp"
#include "fabric/faulty_transport.hpp"
#include "fabric/host_transport.hpp"

namespace fabricmark::fabric {

std::unique_ptr<Transport> make_transport(const std::string& name, std::size_t chunk_bytes,
                                          const runtime::Context& context, bool zero_copy, Waiting waiting) {
  std::unique_ptr<Transport> transport;
  const double timeout = context.conditions().timeout_seconds;
  if (name == "cpu") {
    transport = std::make_unique<CpuTransport>(context.ranks(), timeout, waiting);
  } else if (name == "host") {
    transport = std::make_unique<HostTransport>(context, chunk_bytes, zero_copy, waiting);
  } else {
    throw bad_use("there is no transport '" + name + "'", "use cpu or host");
  }
  const std::optional<runtime::Fault>& fault = context.conditions().fault;
  if (fault && is_message_fault(*fault) && (!fault->rank || *fault->rank == context.ranks().rank())) {
    return std::make_unique<FaultyTransport>(std::move(transport), *fault, context.conditions().repetition);
  }
  return transport;
}

bool is_message_fault(const runtime::Fault& fault) {
  using Kind = runtime::Fault::Kind;
  switch (fault.kind) {
    case Kind::kLost:
    case Kind::kLate:
    case Kind::kBlank:
    case Kind::kHalf:
      return true;
    case Kind::kSwapped:
      return fault.target.empty();  // with a target, of values
    default:
      return false;
  }
}

}  // namespace fabricmark::fabric
