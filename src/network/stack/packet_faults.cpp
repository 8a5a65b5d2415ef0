#include "network/stack/packet_faults.hpp"

#include "base/random_bits.hpp"

namespace fabricmark::network {

namespace {

constexpr int kMostDelay = 8;  // beyond the least that lets the next packet overtake

/// The next bits of a packet's own sequence.
std::uint64_t next_bits(std::uint64_t& state) {
  state += kRandomStep;
  return mixed_bits(state);
}

/// From 0 to less than 1.
double share(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1p-53; }

}  // namespace

PacketFate fate_of(const PacketFaults& faults, int from, int to, bool is_acknowledgement,
                   std::uint64_t number) {
  const std::uint64_t flow = static_cast<std::uint64_t>(from) << 33U | static_cast<std::uint64_t>(to) << 1U |
                             (is_acknowledgement ? 1U : 0U);
  std::uint64_t state = mixed_bits(mixed_bits(mixed_bits(faults.seed + kRandomStep) ^ flow) + number);
  PacketFate fate;
  fate.is_dropped = share(next_bits(state)) < faults.drop;
  if (fate.is_dropped) return fate;
  fate.is_doubled = share(next_bits(state)) < faults.duplicate;
  if (share(next_bits(state)) < faults.reorder) {
    fate.delay = 2 + static_cast<int>(next_bits(state) % kMostDelay);
  }
  if (fate.is_doubled) fate.copy_delay = 1 + static_cast<int>(next_bits(state) % kMostDelay);
  return fate;
}

}  // namespace fabricmark::network
