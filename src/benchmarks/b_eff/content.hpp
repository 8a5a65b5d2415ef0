#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/b_eff/content.h"

namespace fabricmark::b_eff {

/// What one message carries: bytes that depend on who sent it, when, and where in a series, so that a message
/// of another rank, direction, repetition or place is not taken for it. Where one of these, or the power of
/// two in `bytes`, differs, all bytes differ, unless the difference is a multiple of 251; where several
/// differ at once, one in 251 messages is alike by chance. Within a message, parts of a power of two of 4 KiB
/// or more are not alike up to 1 MiB.
struct Content {
  std::uint32_t sender = 0;
  std::uint32_t direction = 0;
  std::uint32_t repetition = 0;
  std::uint32_t place = 0;  ///< in the series of one timed region
  std::uint32_t bytes = 0;

  /// Never kPoison: even a message of a single byte shows whether it has arrived.
  [[nodiscard]] std::uint8_t first() const {
    const std::uint32_t mixed =
        sender * 101 + direction * 59 + repetition * 37 + place * B_EFF_NEXT_MESSAGE + bytes * 13;
    return static_cast<std::uint8_t>(mixed % B_EFF_FIRST_BYTES);
  }
  [[nodiscard]] std::uint8_t at(std::size_t i) const {
    return b_eff_byte(first(), static_cast<std::uint32_t>(i));
  }
};

/// What a receive buffer holds before a message arrives.
inline constexpr std::byte kPoison{0xFF};

inline void fill(std::span<std::byte> bytes, const Content& content) {
  const std::uint8_t first = content.first();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte{b_eff_byte(first, static_cast<std::uint32_t>(i))};
}

/// Position of the first byte that is wrong, or the size when all are right; adds their number to `wrong`.
/// `start`: of these bytes in the message.
inline std::size_t compare(std::span<const std::byte> bytes, const Content& content, std::size_t& wrong,
                           std::size_t start = 0) {
  const std::uint8_t first = content.first();
  std::size_t first_wrong = bytes.size();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == std::byte{b_eff_byte(first, static_cast<std::uint32_t>(start + i))}) continue;
    first_wrong = std::min(first_wrong, i);
    ++wrong;
  }
  return first_wrong;
}

}  // namespace fabricmark::b_eff
