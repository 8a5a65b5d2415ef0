#include "benchmarks/random_access/execution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fabricmark::random_access {

namespace {

// As many places again lie behind the starts: what a kernel reads there that was built for more of them. What
// a device has there by chance may be zeros, which no update shows.
constexpr std::size_t kPlacesForOneStart = 2;

Plan checked(const runtime::Context& context, const Plan& plan) {
  const runtime::Parameters& parameters = context.parameters();
  const double table_bytes = sizeof(std::uint64_t) * std::exp2(parameters.integer("log_size"));
  const double starts_bytes = kPlacesForOneStart * sizeof(std::uint64_t) * std::exp2(plan.log_stretches);
  constexpr double kHostTables = 3;  // initial, results and expected
  context.require_memory({.host_bytes = kHostTables * table_bytes + starts_bytes}, "log_size");
  return plan;
}

}  // namespace

Execution::Execution(const runtime::Context& context, const Scope& scope, const Plan& plan)
    : plan_(checked(context, plan)),
      kernels_(context.replications(static_cast<int>(context.parameters().integer("replications")))) {
  const int log_replications = std::countr_zero(context.parameters().count("replications"));
  const int log_part = scope.log_part - log_replications;
  const auto tables = context.memory_plan().of(0, "items");
  const auto seeds = context.memory_plan().of(0, "seeds");
  for (int i = 0; i < kernels_.count(); ++i) {
    const auto part = static_cast<std::size_t>(i);
    parts_.push_back({context.buffer(tables[part]), context.buffer(seeds[part])});
    kernels_.set(i, {{"items", parts_.back().items},
                     {"seeds", parts_.back().starts},
                     {"numbers_each", scope.updates() >> plan.log_stretches},
                     {"log_part", static_cast<unsigned>(log_part)},
                     {"log_table", static_cast<unsigned>(scope.log_table)},
                     {"part", (scope.part << log_replications) + static_cast<unsigned>(i)}});
  }
}

void Execution::write_starts(const Scope& scope) {
  std::vector<std::uint64_t> all = stretch_starts(scope, plan_.log_stretches);
  // Of two that are alike, the second would undo what the first has done.
  for (std::uint64_t i = all.size() * (kPlacesForOneStart - 1); i > 0; --i) all.push_back(~i);
  kernels_.transfer([&](int i) {
    device::Buffer& starts = parts_[static_cast<std::size_t>(i)].starts;
    starts.write(kernels_.queue(i), all.data(), starts.bytes());
  });
}

void Execution::run() {
  kernels_.run("update", std::vector<device::Geometry>(parts_.size(), plan_.geometry));
}

void Execution::write(std::span<const std::uint64_t> items) {
  kernels_.transfer([&](int i) {
    const auto index = static_cast<std::size_t>(i);
    const std::span<const std::uint64_t> own = items.subspan(index * (items.size() / parts_.size()));
    parts_[index].items.write(kernels_.queue(i), own.data(), parts_[index].items.bytes());
  });
}

void Execution::read(std::span<std::uint64_t> items) {
  kernels_.transfer([&](int i) {
    const auto index = static_cast<std::size_t>(i);
    const std::span<std::uint64_t> own = items.subspan(index * (items.size() / parts_.size()));
    parts_[index].items.read(kernels_.queue(i), own.data(), parts_[index].items.bytes());
  });
}

}  // namespace fabricmark::random_access
