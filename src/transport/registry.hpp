#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "network/message_fault.hpp"
#include "runtime/context.hpp"
#include "transport/messages.hpp"
#include "transport/pattern.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// What a benchmark says of its messages.
struct TransportUse {
  /// Where they lie, if the benchmark allocates that memory; otherwise it is the transport's choice.
  std::optional<device::MemorySpace> space{};
  /// Messages are in flight while the device computes: ranks leave it the cores that it works on.
  bool beside_kernels = false;
  /// The longest one, for which the transport is tuned; 0: it is not.
  std::size_t largest_bytes = 0;
  /// The protocols are measured by whoever has asked for the transport.
  bool leaves_protocols_open = false;
  /// How they follow each other, as the transport is tuned.
  Pattern pattern = Pattern::kExchange;
};

/// How ranks wait for such messages.
inline Waiting waiting(const runtime::Context& context, const TransportUse& use) {
  const bool needs_cores = use.beside_kernels && context.device().info().is_in_host_memory();
  return needs_cores ? Waiting::kSleep : Waiting::kSpin;
}

/// The transport that the parameter `transport` names, with the options of its transport.toml, wrapped to
/// make the fault of the context's conditions where that is one of messages. Collective. Throws Error (bad
/// use) for a name that is no folder of src/transport, and where it does not reach the messages' memory.
std::unique_ptr<Transport> make_transport(const runtime::Context& context, const TransportUse& use = {});

/// Of a transport whose messages no described system has costs of: bad use.
Error no_costs_over(const std::string& transport);

/// True for faults that a transport makes, not the benchmark.
inline bool is_message_fault(const runtime::Fault& fault) {
  return network::message_fault(fault).has_value();
}

}  // namespace fabricmark::transport
