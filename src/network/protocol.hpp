#pragma once

#include <cstdint>
#include <string>

namespace fabricmark::network {

/// Who carries messages over a network of packets.
enum class Protocol : std::uint8_t {
  kUdp,   ///< no acknowledgement: what is lost is lost, and counted; keeps order within a flow only
  kTcp,   ///< sessions, windows, acknowledgements, retransmission; no congestion control
  kRdma,  ///< RoCE: reliable messages without windows; the receiver's memory is written without its action
};

/// Of a transport between engines. Throws Error (bad use) for any other.
Protocol protocol_of(const std::string& transport);

/// So many bytes, in whole packets, go to the network at once where nothing can be lost and no window is.
inline constexpr std::uint64_t kBurstBytes = 65536;

}  // namespace fabricmark::network
