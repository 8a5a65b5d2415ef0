#include "board/accl/call.hpp"

#include <fmt/core.h>

namespace fabricmark::accl {

std::string Call::text() const {
  switch (kind) {
    case Kind::kNop:
      return "nop";
    case Kind::kSend:
      return fmt::format("send to rank {}", peer);
    case Kind::kRecv:
      return tag == kAnyTag ? fmt::format("receive from rank {}", peer)
                            : fmt::format("receive from rank {} with tag {}", peer, tag);
    case Kind::kPut:
      return fmt::format("put to rank {}", peer);
    case Kind::kStreamPut:
      return fmt::format("put into stream {} of rank {}", remote_stream, peer);
    case Kind::kCopy:
      return "copy";
    case Kind::kCombine:
      return "combine";
    case Kind::kCollective:
      return std::string(collectives::name_of(collective.operation));
  }
  return "";
}

}  // namespace fabricmark::accl
