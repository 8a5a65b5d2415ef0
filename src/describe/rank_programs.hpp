#pragma once

#include <cstddef>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/operation.hpp"
#include "describe/request.hpp"
#include "simulate/program.hpp"

namespace fabricmark::describe {

/// What each of so many ranks does, step by step, as a request with `programs` says (docs/describe.md),
/// in so many parts.
/// Throws Error (bad use).
[[nodiscard]] std::vector<simulate::Program> programs_of(const Json& request, std::size_t ranks,
                                                         const collectives::Shape& shape,
                                                         std::size_t parts = 0);

/// The algorithm that a call names, of those that do it. Throws Error (bad use).
[[nodiscard]] const collectives::Algorithm& algorithm_of(const Json& call,
                                                         const collectives::Problem& problem);

}  // namespace fabricmark::describe
