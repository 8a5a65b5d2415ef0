#pragma once

#include "describe/request.hpp"

namespace fabricmark::describe {

/// What programs of ranks take over a topology, alone and where they share its cables: docs/describe.md.
/// Throws Error (bad use).
Json simulate_json(const Json& request);

}  // namespace fabricmark::describe
