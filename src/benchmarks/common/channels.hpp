#pragma once

#include "runtime/context.hpp"

namespace fabricmark::common {

/// For kernels over the external channels of a board (kernels/common/channels.h). Throws Error (bad use)
/// where several ranks have channels that end on their own device.
void require_cables(const runtime::Context& context);

}  // namespace fabricmark::common
