#pragma once

#include <cstdint>

namespace fabricmark::credit_link {

/// What an end has counted since it was made.
struct Counters {
  std::uint64_t words_in = 0;      ///< taken from the source
  std::uint64_t words_out = 0;     ///< given to the sink
  std::uint64_t data_headers = 0;  ///< sent
  std::uint64_t credit_only = 0;   ///< sent
  std::uint64_t syncs = 0;         ///< sent
  std::uint64_t epochs = 0;        ///< begun again
  std::uint64_t lost_flits = 0;    ///< that the peer sent and that did not come, or not right
  std::uint64_t cut_packets = 0;   ///< that a new epoch met on their way
  std::uint64_t bad_headers = 0;
  std::uint64_t bad_payloads = 0;        ///< packets
  std::uint64_t stray_flits = 0;         ///< data flits that came and were not stored
  std::uint64_t overflows = 0;           ///< data flits that found no place: never, by the protocol
  std::uint64_t stalled_for_credit = 0;  ///< cycles with a closed packet that had too few credits
  std::uint64_t stalled_by_wire = 0;     ///< cycles with a flit that the wire did not take
  std::uint64_t stalled_source = 0;      ///< cycles with a word that found no place
  std::uint32_t most_received = 0;       ///< highest fill of the receive buffer

  bool operator==(const Counters&) const = default;
};

}  // namespace fabricmark::credit_link
