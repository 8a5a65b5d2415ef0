// The single work-item kernel: a stretch of the updates for each of its random number generators.
#include <bit>

#include "benchmarks/random_access/execution.hpp"

namespace fabricmark::random_access {

std::unique_ptr<Execution> make_base(const runtime::Context& context, const Scope& scope) {
  const runtime::Parameters& parameters = context.parameters();
  // Where the pipeline does not wait, it may hold as many updates as a board's memory takes cycles at most.
  constexpr std::size_t kDeepest = 1024;
  const std::size_t window =
      parameters.flag("ignore_dependence") ? kDeepest : parameters.count("buffer_size");
  const Plan plan{
      .log_stretches = static_cast<int>(parameters.integer("log_rngs")),
      .losses = {.window = window, .log_replications = std::countr_zero(parameters.count("replications"))},
      .lost_with = "buffer_size"};
  return std::make_unique<Execution>(context, scope, plan);
}

}  // namespace fabricmark::random_access
