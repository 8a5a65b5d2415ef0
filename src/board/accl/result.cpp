#include "board/accl/result.hpp"

#include <array>

namespace fabricmark::accl {

std::string_view name_of(Code code) {
  constexpr std::array kNames{"done",         "packets lost",   "time-out",         "peer dead",
                              "peer failed",  "credits differ", "message too long", "calls differ",
                              "unknown rank", "unknown memory", "unknown stream",   "not supported",
                              "no algorithm"};
  return kNames.at(static_cast<std::size_t>(code));
}

}  // namespace fabricmark::accl
