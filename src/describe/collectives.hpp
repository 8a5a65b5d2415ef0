#pragma once

#include <nlohmann/json.hpp>

namespace fabricmark::describe {

/// The answer to a request that has a `collective` (docs/describe.md): its algorithms, and where the request
/// says how many ranks have how many bytes, what each takes there. Throws Error (bad use).
[[nodiscard]] nlohmann::ordered_json collective_json(const nlohmann::ordered_json& request);

}  // namespace fabricmark::describe
