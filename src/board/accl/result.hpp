#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fabricmark::accl {

/// How a call ended.
enum class Code : std::uint8_t {
  kDone,
  kPacketsLost,     ///< UDP: some of what was to come will not; the rest has
  kTimeOut,         ///< modelled time passed in vain
  kPeerDead,        ///< it does not answer
  kPeerFailed,      ///< a call of another rank failed, and ended this one
  kCreditsDiffer,   ///< a message came again without credit for it: the engine's own fault
  kMessageTooLong,  ///< for all receive buffers together
  kCallsDiffer,     ///< ranks called another operation, root, type, reduction or number of elements
  kUnknownRank,     ///< of a communicator
  kUnknownMemory,   ///< nobody registered it, or it is smaller
  kUnknownStream,   ///< no kernel has it
  kNotSupported,    ///< by this transport or this build of the engine
  kNoAlgorithm,     ///< for an operation on these ranks
};

/// "done", "packets lost", ...
[[nodiscard]] std::string_view name_of(Code code);
/// The status that a kernel reads: 0 for kDone, else the bit of ACCL that comes nearest, each another one.
[[nodiscard]] unsigned int status_of(Code code);
/// What it says. Of a status that is none of these kNotSupported.
[[nodiscard]] Code code_of(unsigned int status);

/// What a call says at its end.
struct Result {
  Code code = Code::kDone;
  std::string text;              ///< one line with cause and remedy; empty for kDone
  std::uint64_t lost_bytes = 0;  ///< kPacketsLost
  double started = 0;            ///< modelled time [s]: the issuer handed the call over
  double ended = 0;              ///< modelled time [s]
  std::string algorithm{};       ///< of a collective call, and why

  [[nodiscard]] bool is_done() const { return code == Code::kDone; }
};

}  // namespace fabricmark::accl
