#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/lbm/cases.hpp"
#include "runtime/communicator.hpp"
#include "stencil/part.hpp"
#include "stencil/recorder.hpp"

namespace fabricmark::lbm {

/// Periods a step of a signal that was sampled every `interval` steps: of its rises through zero in the later
/// half; 0 where these are fewer than four.
double frequency_of(const std::vector<double>& samples, double interval);

/// How often vortices leave a cylinder, by the speed along at a place behind it.
std::unique_ptr<stencil::Recorder> record_wake(runtime::Communicator& ranks, const stencil::Part& part,
                                               const Case& of, std::int64_t interval);

}  // namespace fabricmark::lbm
