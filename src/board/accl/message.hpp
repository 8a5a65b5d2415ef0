#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "board/dataflow/network.hpp"
#include "collectives/moves.hpp"

namespace fabricmark::accl {

/// What a message is, for the engine at its other end.
enum class MessageKind : std::uint8_t {
  kEager,    ///< goes into receive buffers
  kRequest,  ///< rendezvous: the sender has a long message
  kGrant,    ///< rendezvous: its receiver waits for it
  kData,     ///< rendezvous: goes into the receiver's memory
  kPut,      ///< goes into registered memory
  kWords,    ///< goes to a kernel's stream
  kAbort,    ///< a call has failed; the payload says how
  kCredit,   ///< there is room now for an eager message that found no receive buffer free
  kAgain,    ///< that message, which its sender has kept
};

/// In front of each message.
struct Header {
  MessageKind kind = MessageKind::kEager;
  collectives::Type type = collectives::Type::kFloat32;
  bool is_compressed = false;  ///< float32 travels as float16
  std::uint32_t communicator = 0;
  std::int32_t from = 0;  ///< device
  std::int32_t tag = 0;
  std::uint64_t context = 0;
  std::uint64_t signature = 0;
  std::uint64_t count = 0;   ///< elements
  std::uint64_t sender = 0;  ///< its ticket
  std::uint64_t receiver = 0;
  std::uint64_t memory = 0;  ///< kPut: its number, or an address in it
  std::uint64_t first = 0;   ///< element: kPut: of the memory; else where this piece begins
  /// Elements of one piece of a message whose elements come in while it leaves; 0: all of it.
  std::uint64_t piece = 0;
  std::int32_t stream = 0;  ///< kWords
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) <= dataflow::Letter::kHeaderBytes);

/// Of an element as it travels.
inline std::size_t travelling_bytes(const Header& header) {
  return collectives::bytes_of(header.is_compressed ? collectives::Type::kFloat16 : header.type);
}

inline Header header_of(const dataflow::Letter& letter) {
  Header header;
  std::memcpy(&header, letter.header.data(), sizeof header);
  return header;
}

inline std::array<std::byte, dataflow::Letter::kHeaderBytes> bytes_of(const Header& header) {
  std::array<std::byte, dataflow::Letter::kHeaderBytes> bytes{};
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace fabricmark::accl
