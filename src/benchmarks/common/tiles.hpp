#pragma once

#include <cstddef>

#include "runtime/context.hpp"

namespace fabricmark::common {

/// Elements of `value_bytes` in a CPU's vector, as kernels/common/tile_cpu.h has them.
std::size_t vector_width(const runtime::Context& context, std::size_t value_bytes);

}  // namespace fabricmark::common
