#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fabricmark::b_eff {

/// What one message carries: bytes that depend on who sent it, when, and where in a series, so that a message
/// of another rank, direction, repetition or place is not taken for it.
struct Content {
  std::uint32_t sender = 0;
  std::uint32_t direction = 0;
  std::uint32_t repetition = 0;
  std::uint32_t place = 0;  ///< in the series of one timed part
  std::uint32_t bytes = 0;

  /// The first byte is never kPoison: each message starts with a byte that differs between neighbours in all
  /// of the above, even when it is the only one.
  [[nodiscard]] std::uint8_t first() const {
    const std::uint32_t mixed = sender * 101 + direction * 59 + repetition * 37 + place * 7 + bytes * 13;
    return static_cast<std::uint8_t>(mixed % 251);
  }
  [[nodiscard]] std::uint8_t at(std::size_t i) const {
    return static_cast<std::uint8_t>((first() + i * 17 + (i >> 8) * 5) % 256);
  }
};

/// What a receive buffer holds before a message arrives.
inline constexpr std::byte kPoison{0xFF};

inline void fill(std::span<std::byte> bytes, const Content& content) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte{content.at(i)};
}

/// Position of the first byte that is wrong, or the size when all are right; adds their number to `wrong`.
inline std::size_t compare(std::span<const std::byte> bytes, const Content& content, std::size_t& wrong) {
  std::size_t first = bytes.size();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == std::byte{content.at(i)}) continue;
    if (first == bytes.size()) first = i;
    ++wrong;
  }
  return first;
}

}  // namespace fabricmark::b_eff
