#pragma once

#include <string>
#include <vector>

#include "microbench/common/calls/measure.hpp"
#include "microbench/common/calls/options.hpp"
#include "runtime/result.hpp"

namespace fabricmark::microbench {

/// The run as a result file has it, but for its command and its own times. Collective.
runtime::Result result_of(runtime::Communicator& ranks, const Options& options, const std::vector<Row>& rows,
                          const Measurer& measurer);

/// Writes the result to --json and prints a table, notes and the verdict where standard output is free for
/// them. Throws Error.
void publish(const Options& options, const std::vector<Row>& rows, const runtime::Result& result);

}  // namespace fabricmark::microbench
