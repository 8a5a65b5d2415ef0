#include "collectives/replay/caller.hpp"

namespace fabricmark::collectives {

Choice Place::chosen(const Call& call, const std::string& algorithm) const {
  return choose({.operation = call.operation,
                 .ranks = ranks,
                 .bytes = call.count * bytes_of(type_of(call, rank, ranks)),
                 .shape = shape,
                 .buffers = buffers},
                costs, algorithm);
}

}  // namespace fabricmark::collectives
