#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fabricmark::credit_link {

/// The first flit of a packet. Bit 0 of a flit is bit 0 of its byte 0.
struct Header {
  enum class Type : std::uint8_t { kSync = 1, kPacket = 2 };
  static constexpr std::uint32_t kMagic = 0x5EEDF10C;
  static constexpr std::size_t kBytes = 32;  ///< of which flits of 128 bits have the first half only

  Type type = Type::kPacket;
  bool first = false;        ///< SOP: of a user's frame
  bool last = false;         ///< EOP
  bool credit_only = false;  ///< CO
  bool ack = false;          ///< of a SYNC: the peer's present epoch was seen; `sent` says which one
  std::uint8_t epoch = 0;    ///< of the sender
  std::uint8_t tail = 0;     ///< bytes of the last data flit - 1
  std::uint16_t length = 0;  ///< data flits that follow
  std::uint16_t freed = 0;   ///< PACKET: flits freed in this epoch, modulo 2^16. SYNC: places of the receiver
  std::uint16_t sent = 0;    ///< PACKET: data flits sent in this epoch. SYNC: the epoch that `ack` is about
  std::uint32_t payload_crc = 0;

  bool operator==(const Header&) const = default;
};

std::array<std::uint8_t, Header::kBytes> pack(const Header& header);

/// Nothing where MAGIC, type, version, the zeros or the check sum are wrong. `bytes`: 16, or 32 with the
/// payload's CRC.
std::optional<Header> unpack(std::span<const std::uint8_t> bytes);

/// CRC-16/CCITT-FALSE.
std::uint16_t crc16(std::span<const std::uint8_t> bytes);

/// CRC-32 of IEEE 802.3: `crc32(crc32(0, a), b)` is that of a and then b.
std::uint32_t crc32(std::uint32_t before, std::span<const std::uint8_t> bytes);

}  // namespace fabricmark::credit_link
