#pragma once

#include <memory>

#include "runtime/benchmark.hpp"
#include "stencil/application.hpp"
#include "stencil/execution.hpp"

namespace fabricmark::stencil {

/// The time of a cascade alone (--timing-only): the same kernels and links, over which empty words pass.
std::unique_ptr<runtime::Benchmark> make_timing(const runtime::Context& context, const MakeApplication& make,
                                                const Kind& kind);

/// What steps of so many cells on this rank are worth.
std::vector<runtime::Metric> step_metrics(const runtime::Context& context, const Application& application,
                                          const Part& part);

}  // namespace fabricmark::stencil
