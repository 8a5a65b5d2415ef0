#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "microbench/collective/measure.hpp"
#include "microbench/collective/options.hpp"
#include "runtime/result.hpp"

namespace fabricmark::microbench {

/// The whole run as a result file has it; all its times are modelled or emulated.
runtime::Result result_of(const Options& options, const std::vector<Row>& rows,
                          const std::vector<std::string>& command, const std::string& started,
                          std::chrono::duration<double> duration);

/// The table that a person reads, with notes and the verdict.
std::string table_of(const Options& options, const std::vector<Row>& rows);

/// Which algorithms were chosen, and why: a line for each.
std::vector<std::string> notes_of(const std::vector<Row>& rows);

/// Writes the result to --json and prints the table where standard output is free for it. Throws Error.
void publish(const Options& options, const std::vector<Row>& rows, const runtime::Result& result);

}  // namespace fabricmark::microbench
