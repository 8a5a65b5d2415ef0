#pragma once

#include <optional>
#include <string>
#include <vector>

#include "microbench/omb/limit.hpp"
#include "microbench/omb/measure.hpp"
#include "runtime/result.hpp"

namespace fabricmark::microbench::omb {

/// The result of a run. Collective; complete on the root.
runtime::Result result_of(runtime::Communicator& ranks, const Options& options, const std::vector<Row>& rows,
                          const Measurer& measurer, const std::optional<Limit>& limit);

/// The lines below the last row: what was checked, and what is wrong.
std::string closing_text(const runtime::Result& result);

}  // namespace fabricmark::microbench::omb
