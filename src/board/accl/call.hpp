#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "collectives/moves.hpp"
#include "collectives/operation.hpp"
#include "kernels/common/accl.hpp"

namespace fabricmark::accl {

using collectives::Type;
using collectives::View;
using Command = fm::accl_command;  ///< the arguments
using Status = fm::accl_word;

inline constexpr int kAnyTag = static_cast<int>(fm::accl_any_tag);
inline constexpr std::size_t kWordBytes =
    fm::accl_bytes_of_data;  ///< of streams between kernels and the engine

enum class Kind : std::uint8_t {
  kNop,
  kSend,
  kRecv,
  kPut,
  kStreamPut,
  kCopy,
  kCombine,
  kCollective,
};

/// Elements in memory, or as many from or to a stream.
struct Operand {
  View memory{};
  std::optional<int> stream{};
};

/// What the engine is asked to do: the same whether the host or a kernel asks. Streams carry elements one
/// behind the other in words of 64 bytes; the last word of a call may have less.
struct Call {
  Kind kind = Kind::kNop;
  int communicator = 0;
  int peer = 0;  ///< rank of the communicator
  int tag = kAnyTag;
  std::size_t count = 0;
  Type type = Type::kFloat32;
  collectives::Reduction reduction = collectives::Reduction::kSum;
  Operand a{};
  Operand b{};
  Operand result{};
  std::uint64_t remote_memory = 0;  ///< kPut: its number, or a physical address there
  std::size_t remote_first = 0;     ///< kPut: element
  int remote_stream = 0;            ///< kStreamPut
  bool is_compressed = false;       ///< float32 travels as float16
  collectives::Call collective{};   ///< kCollective: all but its operands' memory, if those are streams
  std::string algorithm{};          ///< kCollective; empty: the engine chooses

  /// "send to rank 3", for messages.
  [[nodiscard]] std::string text() const;
};

/// Word 1 of a command for it.
[[nodiscard]] unsigned int function_of(collectives::Operation operation);
/// None where it is no collective function.
[[nodiscard]] std::optional<collectives::Operation> operation_of(unsigned int function);
/// Word 2 of a command. Throws Error (bad use) for more elements than 32 bits count.
[[nodiscard]] unsigned int count_of(std::size_t elements);
/// Word 5 of a command for it.
[[nodiscard]] unsigned int number_of(collectives::Reduction reduction);

}  // namespace fabricmark::accl
