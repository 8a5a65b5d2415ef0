#include "benchmarks/random_access/execution.hpp"

#include <algorithm>
#include <bit>

namespace fabricmark::random_access {

Plan plan_base(const runtime::Parameters& parameters) {
  return {.log_stretches = static_cast<int>(parameters.integer("log_rngs")),
          .may_lose_updates = parameters.count("buffer_size") > 1 || parameters.flag("ignore_dependence")};
}

Plan plan_throughput(const runtime::Parameters& parameters, std::size_t max_work_group_size) {
  const auto log_items = static_cast<int>(parameters.integer("log_work_items"));
  const std::size_t items = std::size_t{1} << log_items;
  const std::size_t group = std::min(parameters.count("work_group_size"), max_work_group_size);
  return {.log_stretches = log_items + std::countr_zero(parameters.count("lanes")),
          .geometry = {items, std::min(items, std::bit_floor(group))},
          .may_lose_updates = items > 1 && !parameters.flag("atomic")};
}

Execution::Execution(const runtime::Context& context, const Scope& scope, const Plan& plan)
    : geometry_(plan.geometry),
      log_stretches_(plan.log_stretches),
      kernels_(context.replications(static_cast<int>(context.parameters().integer("replications")))) {
  const int log_replications = std::countr_zero(context.parameters().count("replications"));
  const int log_part = scope.log_part - log_replications;
  for (int i = 0; i < kernels_.count(); ++i) {
    parts_.push_back({context.buffer(sizeof(std::uint64_t) << log_part, i),
                      context.buffer(sizeof(std::uint64_t) << log_stretches_, i)});
    cl::Kernel& kernel = kernels_.kernel(i);
    parts_.back().items.set_argument(kernel, 0);
    parts_.back().starts.set_argument(kernel, 1);
    kernel.setArg(2, static_cast<cl_ulong>(scope.updates() >> plan.log_stretches));
    kernel.setArg(3, static_cast<cl_uint>(log_part));
    kernel.setArg(4, static_cast<cl_uint>(scope.log_table));
    kernel.setArg(5, static_cast<cl_ulong>((scope.part << log_replications) + static_cast<unsigned>(i)));
  }
}

void Execution::write_starts(const Scope& scope) {
  const std::vector<std::uint64_t> all = stretch_starts(scope, log_stretches_);
  kernels_.transfer([&](int i) {
    device::Buffer& starts = parts_[static_cast<std::size_t>(i)].starts;
    starts.write(kernels_.queue(i), all.data(), starts.bytes());
  });
}

void Execution::run() { kernels_.run("update", std::vector<device::Geometry>(parts_.size(), geometry_)); }

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
