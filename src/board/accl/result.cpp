#include "board/accl/result.hpp"

namespace fabricmark::accl {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::kDone:
      return "done";
    case Code::kPacketsLost:
      return "packets lost";
    case Code::kTimeOut:
      return "time-out";
    case Code::kPeerDead:
      return "peer dead";
    case Code::kPeerFailed:
      return "peer failed";
    case Code::kCreditsDiffer:
      return "credits differ";
    case Code::kMessageTooLong:
      return "message too long";
    case Code::kCallsDiffer:
      return "calls differ";
    case Code::kUnknownRank:
      return "unknown rank";
    case Code::kUnknownMemory:
      return "unknown memory";
    case Code::kUnknownStream:
      return "unknown stream";
    case Code::kNotSupported:
      return "not supported";
    case Code::kNoAlgorithm:
      return "no algorithm";
  }
  return "";
}

}  // namespace fabricmark::accl
