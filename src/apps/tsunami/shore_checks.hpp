#pragma once

#include <string>
#include <vector>

#include "apps/tsunami/ocean.hpp"
#include "runtime/benchmark.hpp"
#include "runtime/communicator.hpp"
#include "stencil/part.hpp"

namespace fabricmark::tsunami {

/// States of a rank's part, as the kernels have them.
using State = std::vector<double>;

/// Finite volumes lose no water over walls: how much more or less there is than at the start. Collective.
runtime::Verdict mass_verdict(runtime::Communicator& ranks, const Ocean& ocean, const stencil::Part& part,
                              const State& start, const State& end, double epsilon);

/// How high water came over land, and how far its height is from the solution where one is known. Collective.
std::vector<std::string> shore_notes(runtime::Communicator& ranks, const Ocean& ocean,
                                     const stencil::Part& part, const State& end);

}  // namespace fabricmark::tsunami
