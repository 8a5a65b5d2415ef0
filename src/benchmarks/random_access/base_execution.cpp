// The single work-item kernel: a stretch of the updates for each of its random number generators.
#include "benchmarks/random_access/execution.hpp"

namespace fabricmark::random_access {

std::unique_ptr<Execution> make_base(const runtime::Context& context, const Scope& scope) {
  const runtime::Parameters& parameters = context.parameters();
  const Plan plan{
      .log_stretches = static_cast<int>(parameters.integer("log_rngs")),
      .may_lose_updates = parameters.count("buffer_size") > 1 || parameters.flag("ignore_dependence"),
      .lost_with = "buffer_size"};
  return std::make_unique<Execution>(context, scope, plan);
}

}  // namespace fabricmark::random_access
