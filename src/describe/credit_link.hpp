#pragma once

#include <nlohmann/json.hpp>

namespace fabricmark::describe {

/// The answer to a request that has a `credit_link` (docs/describe.md): what both ends of one show, cycle by
/// cycle. Throws Error (bad use).
[[nodiscard]] nlohmann::ordered_json credit_link_json(const nlohmann::ordered_json& request);

}  // namespace fabricmark::describe
