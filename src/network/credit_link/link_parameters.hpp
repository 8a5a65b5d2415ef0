#pragma once

#include <cstdint>

namespace fabricmark::credit_link {

/// A protocol or a receiver that is wrong on purpose, so that tests see the watchers find it.
enum class LinkFault : std::uint8_t {
  kNone,
  kCreditOneTooMany,    ///< the sender believes in one place more than there is
  kGapNotFreed,         ///< what was lost does not come back as credit
  kFreedTwice,          ///< each flit that is taken counts twice
  kTailDropped,         ///< the last data flit of each packet is not stored
  kNoCreditOnlyHeader,  ///< credits come back on the headers of data only
  kSentStandsStill,     ///< headers say as if nothing had been sent
  kOldPlacesForgotten,  ///< what lay in the peer's buffer when an epoch began never comes back as credit
  kNoAcknowledgement,   ///< no SYNC says that the peer's was seen
};

/// What both ends of a credit link agree on: flits of `width_bits`, packets of a header and at most
/// `packet_flits` data flits. Times are cycles of the link's clock.
struct LinkParameters {
  unsigned width_bits = 256;      ///< of a flit: a multiple of 128 from 128 to 1024
  unsigned packet_flits = 32;     ///< D
  unsigned transmit_flits = 0;    ///< places of the transmit buffer; 0: 2 D
  unsigned receive_flits = 512;   ///< depth of the receive buffer
  unsigned credit_flits = 0;      ///< D_CU: a credit-only header is due when so many were freed; 0: D
  unsigned timeout = 64;          ///< an open packet closes so many cycles after its last word
  unsigned keepalive = 0;         ///< longest time without a header; 0: without end
  unsigned sync_interval = 1;     ///< from one SYNC to the next
  unsigned sync_timeout = 0;      ///< without a peer for so long the link goes down; 0: never
  unsigned resync_errors = 16;    ///< so many bad headers
  unsigned resync_window = 4096;  ///< in so many cycles start a new epoch
  bool payload_crc = true;        ///< where a header has the place: flits of 256 bits and more
  bool commits_packets = false;   ///< the receiver's user sees a packet when all of it is there and right
  bool is_framed = true;          ///< the lower layer marks the first flit of a packet
  std::uint64_t latency = 0;      ///< of the wire, where it is known: D_CU must not exceed it; 0: unknown
  bool counts_credit_by_flit = false;  ///< for tests: the rule of the thesis, with which two ends can hang
  LinkFault fault = LinkFault::kNone;  ///< for tests

  [[nodiscard]] bool has_payload_crc() const { return payload_crc && width_bits >= 256; }
};

/// The parameters with all that was 0 filled in. Throws Error (2), in one line, for those that cannot work.
LinkParameters checked(LinkParameters parameters);

}  // namespace fabricmark::credit_link
