#pragma once

#include <cstddef>
#include <string>

#include "runtime/context.hpp"

namespace fabricmark::common {

/// For kernels of a single work-item with `local_bytes` of arrays of their own, which PoCL keeps on the stack
/// of one of its threads and would let overflow silently; `parameter` is the setting that makes them so
/// large. Throws Error (bad use) where they do not fit.
void require_stack(const runtime::Context& context, std::size_t local_bytes, const std::string& parameter);

}  // namespace fabricmark::common
