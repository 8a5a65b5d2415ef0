#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

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
  std::uint32_t place = 0;  ///< in the series of one timed part
  std::uint32_t bytes = 0;

  /// Never kPoison: even a message of a single byte shows whether it has arrived.
  [[nodiscard]] std::uint8_t first() const {
    const std::uint32_t mixed = sender * 101 + direction * 59 + repetition * 37 + place * 7 + bytes * 13;
    return static_cast<std::uint8_t>(mixed % 251);
  }
  [[nodiscard]] std::uint8_t at(std::size_t i) const { return at(first(), i); }
  /// The same for a first byte that is known already.
  static std::uint8_t at(std::uint8_t first, std::size_t i) {
    return static_cast<std::uint8_t>(first + i * 17 + (i >> 8) * 5 + (i >> 16) * 3 + (i >> 24) * 11);
  }
};

/// What a receive buffer holds before a message arrives.
inline constexpr std::byte kPoison{0xFF};

inline void fill(std::span<std::byte> bytes, const Content& content) {
  const std::uint8_t first = content.first();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte{Content::at(first, i)};
}

/// Position of the first byte that is wrong, or the size when all are right; adds their number to `wrong`.
inline std::size_t compare(std::span<const std::byte> bytes, const Content& content, std::size_t& wrong) {
  const std::uint8_t first = content.first();
  std::size_t first_wrong = bytes.size();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == std::byte{Content::at(first, i)}) continue;
    first_wrong = std::min(first_wrong, i);
    ++wrong;
  }
  return first_wrong;
}

}  // namespace fabricmark::b_eff
