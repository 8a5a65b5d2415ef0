#pragma once

#include <string>

#include "microbench/omb/measure.hpp"
#include "microbench/omb/options.hpp"

namespace fabricmark::microbench::omb {

/// The lines before the rows of a type, as OMB 7 prints them; `kind`: "" for measured times, else what the
/// times are, in words.
[[nodiscard]] std::string title(const Options& options, int ranks, const std::string& kind);
[[nodiscard]] std::string headings(const Options& options, collectives::Type type, bool is_modelled);
/// One row, with the line's end.
[[nodiscard]] std::string row_text(const Options& options, const Row& row);

/// MB/s of a row, as OMB counts it: of all messages of a round, and of all pairs.
[[nodiscard]] double megabytes_per_second(const Row& row, double seconds);

}  // namespace fabricmark::microbench::omb
