#pragma once

#include <string>
#include <vector>

#include "microbench/omb/options.hpp"

namespace fabricmark::microbench::omb {

/// Takes out of the arguments what only an emulated fabric has: --system, --issuer, --mode, ...
void take_board_options(std::vector<std::string>& arguments, Options& options);

/// Fills in what follows from the rest, and refuses what does not go together. Throws Error (bad use).
void settle(Options& options);

/// Refuses ranks that the program has no use for. Throws Error (bad use).
void check_ranks(const Options& options, int ranks);

/// Whether the transport is an emulated fabric, in modelled time.
[[nodiscard]] bool is_over_boards(const Options& options);

}  // namespace fabricmark::microbench::omb
