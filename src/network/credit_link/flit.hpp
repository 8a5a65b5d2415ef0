#pragma once

#include <cstdint>

#include "base/interface.hpp"
#include "network/credit_link/header.hpp"

namespace fabricmark::credit_link {

/// What is on the wire in one cycle. A data flit carries the number of its word; whoever needs bytes keeps
/// them by these numbers (`Payloads`).
struct Flit {
  std::uint64_t word = 0;
  Header header;
  bool is_header = false;  ///< reads as a header whose check sum is right
  bool first = false;      ///< of its packet, as the lower layer marks it
  bool last = false;
  bool error = false;  ///< the lower layer knows that it is damaged
};

inline bool is_data(const Flit* flit) { return flit != nullptr && !flit->first; }

/// The bytes of words, for the CRC over the payload.
class Payloads : public Interface {
 public:
  /// That of the words before, whose CRC is `before`, and of this one.
  [[nodiscard]] virtual std::uint32_t crc(std::uint32_t before, std::uint64_t word) const = 0;
};

}  // namespace fabricmark::credit_link
