// The ND-range kernel: a stretch of the updates for each lane of each work-item.
#include <algorithm>
#include <bit>

#include "benchmarks/random_access/execution.hpp"

namespace fabricmark::random_access {

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const Scope& scope) {
  const runtime::Parameters& parameters = context.parameters();
  const auto log_items = static_cast<int>(parameters.integer("log_work_items"));
  const std::size_t items = std::size_t{1} << log_items;
  const std::size_t group = context.work_group_size();
  // One work-item a replication meets no other: each replication has a part of the table.
  const bool can_lose = items > 1 && !parameters.flag("atomic");
  const Plan plan{.log_stretches = log_items + std::countr_zero(parameters.count("lanes")),
                  .geometry = {items, std::min(items, std::bit_floor(group))},
                  .losses = {.at_once = can_lose ? items * parameters.count("replications") : 1},
                  .lost_with = "log_work_items"};
  return std::make_unique<Execution>(context, scope, plan);
}

}  // namespace fabricmark::random_access
