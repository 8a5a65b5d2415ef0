#pragma once

#include <optional>
#include <string>

#include "runtime/result.hpp"

namespace fabricmark::runtime {

/// Writes the result to `json` ("-": standard output) and prints its table where standard output is free for
/// it. Throws Error when something could not be written; the result is then in the folder of temporary files,
/// which the message names.
void publish(const Result& result, const std::optional<std::string>& json);

}  // namespace fabricmark::runtime
