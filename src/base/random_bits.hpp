#pragma once

#include <cstdint>

namespace fabricmark {

/// SplitMix64 (Steele, Lea and Flood, 2014), as a function: what makes an input depend on its place alone.
/// Places that are kRandomStep apart, mixed, are its sequence.
inline constexpr std::uint64_t kRandomStep = 0x9E3779B97F4A7C15U;

/// Random bits from distinct ones (its finaliser).
inline std::uint64_t mixed_bits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31U);
}

/// The same for 32 bits, in steps that compilers take for several numbers at once (the finaliser "lowbias32"
/// of Wellons, "Prospecting for hash functions", 2018).
inline std::uint32_t mixed_bits_32(std::uint32_t bits) {
  bits = (bits ^ (bits >> 16U)) * 0x7FEB352DU;
  bits = (bits ^ (bits >> 15U)) * 0x846CA68BU;
  return bits ^ (bits >> 16U);
}

}  // namespace fabricmark
