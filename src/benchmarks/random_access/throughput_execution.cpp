// The ND-range kernel: a stretch of the updates for each lane of each work-item.
#include <algorithm>
#include <bit>

#include "benchmarks/random_access/execution.hpp"

namespace fabricmark::random_access {

namespace {

/// Stores of a core that were made and are not yet to be seen by others: its store queue has 56 places
/// (Skylake), 64 (Zen 3 and 4), 72 (Ice Lake) or 112 (Golden Cove).
constexpr std::size_t kStoresOfCore = 64;

/// Of all cores that run work-items; none of a device that is no CPU.
std::size_t stores_on_their_way(const runtime::Context& context, std::size_t work_items) {
  if (!context.device().info().is_in_host_memory()) return 0;
  const auto cores = static_cast<std::size_t>(runtime::host_threads(context.ranks()));
  return kStoresOfCore * std::min(work_items, cores);
}

}  // namespace

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const Scope& scope) {
  const runtime::Parameters& parameters = context.parameters();
  const auto log_items = static_cast<int>(parameters.integer("log_work_items"));
  const std::size_t items = std::size_t{1} << log_items;
  const std::size_t group = context.work_group_size();
  // One work-item a replication meets no other: each replication has a part of the table.
  const bool can_lose = items > 1 && !parameters.flag("atomic");
  const std::size_t at_once = items * parameters.count("replications");
  const Plan plan{.log_stretches = log_items + std::countr_zero(parameters.count("lanes")),
                  .geometry = {items, std::min(items, std::bit_floor(group))},
                  .losses = {.at_once = can_lose ? at_once : 1,
                             .stores = can_lose ? stores_on_their_way(context, at_once) : 0},
                  .lost_with = "log_work_items"};
  return std::make_unique<Execution>(context, scope, plan);
}

}  // namespace fabricmark::random_access
