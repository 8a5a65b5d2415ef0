#include "collectives/replay/caller.hpp"

namespace fabricmark::collectives {

std::size_t Place::bytes_of(const Call& call) const {
  return call.count * collectives::bytes_of(type_of(call, rank, ranks));
}

Choice Place::chosen(const Call& call, const std::string& algorithm) const {
  return choose({.operation = call.operation,
                 .ranks = ranks,
                 .bytes = bytes_of(call),
                 .shape = shape,
                 .buffers = buffers},
                costs, algorithm);
}

}  // namespace fabricmark::collectives
