// The single work-item kernel: all edges of a rank, then all its elements.
#include "apps/shallow_water/kernel_execution.hpp"

namespace fabricmark::shallow_water {

namespace {

/// Each edge once, by the code of its first own side, with that of its other side where it is own too.
std::vector<std::int32_t> edges_with_own(const LocalMesh& local) {
  std::vector<std::int32_t> edges;
  const auto own = static_cast<std::int32_t>(local.own());
  for (std::int32_t place = 0; place < own; ++place) {
    for (std::int32_t side = 0; side < LocalMesh::kSides; ++side) {
      const std::int32_t beyond =
          local.codes[static_cast<std::size_t>(side) * local.padded + static_cast<std::size_t>(place)];
      const bool is_shared = beyond >= 0 && beyond / 4 < own;
      if (is_shared && beyond / 4 < place) continue;
      edges.insert(edges.end(), {4 * place + side, is_shared ? beyond : -1});
    }
  }
  return edges;
}

template <typename T>
std::unique_ptr<Execution> make_single(const runtime::Context& context, const Problem& problem,
                                       const LocalMesh& local) {
  const std::vector<std::int32_t> list = edges_with_own(local);
  const device::Buffer fluxes = of_stage(context, "fluxes");
  device::Buffer edges = of_stage(context, "edges");
  const device::Queue queue = context.device().queue();
  edges.write(queue, list.data(), list.size() * sizeof(std::int32_t));
  queue.finish();
  const auto more = [&](device::Replications& kernel) {
    kernel.set(
        0, {{"edges", edges}, {"fluxes", fluxes}, {"edge_count", list.size() / 2}, {"count", local.own()}});
  };
  return std::make_unique<KernelExecution<T>>(context, problem, local, Launch{}, more,
                                              std::vector<device::Buffer>{edges, fluxes});
}

}  // namespace

std::size_t base_multiple(const runtime::Context& /*context*/) { return 1; }

std::unique_ptr<Execution> make_base(const runtime::Context& context, const Problem& problem,
                                     const LocalMesh& local) {
  if (context.parameters().text("data_type") == "double") return make_single<double>(context, problem, local);
  return make_single<float>(context, problem, local);
}

}  // namespace fabricmark::shallow_water
