#pragma once

#include <string>
#include <vector>

#include "microbench/common/calls/options.hpp"

namespace fabricmark::microbench {

/// Throws Error (bad use) with the names that there are.
Medium medium_of(const std::string& transport);

/// What does not go together; `given`: the options of the command line. Throws Error (bad use).
void check(const Options& options, const std::vector<std::string>& given);

}  // namespace fabricmark::microbench
