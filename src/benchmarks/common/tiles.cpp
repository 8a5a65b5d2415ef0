#include "benchmarks/common/tiles.hpp"

#include <algorithm>

namespace fabricmark::common {

std::size_t vector_width(const runtime::Context& context, std::size_t value_bytes) {
  constexpr std::size_t kLongest = 16;  // OpenCL has no longer vectors
  return std::min(kLongest, context.parameters().count("vector_bytes") / value_bytes);
}

}  // namespace fabricmark::common
