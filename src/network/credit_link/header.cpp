#include "network/credit_link/header.hpp"

namespace fabricmark::credit_link {

namespace {

constexpr std::size_t kCheckedBytes = 14;  // those that the header's CRC covers
constexpr std::size_t kShortBytes = 16;    // a header without the payload's CRC

template <typename Number>
void put(std::span<std::uint8_t> bytes, std::size_t place, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    bytes[place + i] = static_cast<std::uint8_t>(number >> 8 * i);
}

template <typename Number>
Number get(std::span<const std::uint8_t> bytes, std::size_t place) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number = static_cast<Number>(number | static_cast<Number>(bytes[place + i]) << 8 * i);
  return number;
}

}  // namespace

std::uint16_t crc16(std::span<const std::uint8_t> bytes) {
  constexpr unsigned kPolynomial = 0x1021;
  unsigned crc = 0xFFFF;
  for (const std::uint8_t byte : bytes) {
    crc ^= static_cast<unsigned>(byte) << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1U ^ ((crc & 0x8000U) != 0 ? kPolynomial : 0U)) & 0xFFFFU;
  }
  return static_cast<std::uint16_t>(crc);
}

std::uint32_t crc32(std::uint32_t before, std::span<const std::uint8_t> bytes) {
  constexpr std::uint32_t kPolynomial = 0xEDB88320;  // bits reflected
  std::uint32_t crc = ~before;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
  }
  return ~crc;
}

std::array<std::uint8_t, Header::kBytes> pack(const Header& header) {
  std::array<std::uint8_t, Header::kBytes> bytes{};
  put(bytes, 0, Header::kMagic);
  bytes[4] = static_cast<std::uint8_t>(static_cast<unsigned>(header.type) | unsigned{header.first} << 2U |
                                       unsigned{header.last} << 3U | unsigned{header.credit_only} << 4U |
                                       unsigned{header.ack} << 5U);
  bytes[5] = header.epoch;
  put(bytes, 6, header.length);
  put(bytes, 8, header.freed);
  put(bytes, 10, header.sent);
  bytes[12] = header.tail;
  put(bytes, kCheckedBytes, crc16(std::span(bytes).first(kCheckedBytes)));
  put(bytes, kShortBytes, header.payload_crc);
  return bytes;
}

std::optional<Header> unpack(std::span<const std::uint8_t> bytes) {
  constexpr unsigned kVersionBits = 0xC0;
  if (bytes.size() < kShortBytes || get<std::uint32_t>(bytes, 0) != Header::kMagic) return {};
  const unsigned type = bytes[4] & 3U;
  if ((type != 1 && type != 2) || (bytes[4] & kVersionBits) != 0 || bytes[13] != 0) return {};
  if (get<std::uint16_t>(bytes, kCheckedBytes) != crc16(bytes.first(kCheckedBytes))) return {};
  Header header;
  header.type = static_cast<Header::Type>(type);
  header.first = (bytes[4] & 4U) != 0;
  header.last = (bytes[4] & 8U) != 0;
  header.credit_only = (bytes[4] & 16U) != 0;
  header.ack = (bytes[4] & 32U) != 0;
  header.epoch = bytes[5];
  header.length = get<std::uint16_t>(bytes, 6);
  header.freed = get<std::uint16_t>(bytes, 8);
  header.sent = get<std::uint16_t>(bytes, 10);
  header.tail = bytes[12];
  if (bytes.size() >= kShortBytes + sizeof(std::uint32_t))
    header.payload_crc = get<std::uint32_t>(bytes, kShortBytes);
  return header;
}

}  // namespace fabricmark::credit_link
