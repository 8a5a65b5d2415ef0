#pragma once

#include <cstdint>

#include "network/stack/stack.hpp"

namespace fabricmark::network {

/// What happens to a packet at the end of its way.
struct PacketFate {
  bool is_dropped = false;
  bool is_doubled = false;
  int delay = 0;       ///< by so many packets; 0: it comes in time
  int copy_delay = 0;  ///< of its second copy, where it has one
};

/// Depends on the arguments alone. `number`: of the packet among those of its kind in the flow, each time
/// that it was sent. `from` and `to` are the packet's own: an acknowledgement goes the other way.
PacketFate fate_of(const PacketFaults& faults, int from, int to, bool is_acknowledgement,
                   std::uint64_t number);

}  // namespace fabricmark::network
