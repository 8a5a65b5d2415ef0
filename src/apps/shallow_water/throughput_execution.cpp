// The ND-range kernels: a work-item for each element, or for as many as a vector of a CPU holds.

#include "apps/shallow_water/kernel_execution.hpp"

namespace fabricmark::shallow_water {

namespace {

/// Elements that a work-item computes, as in kernels/shallow_water/throughput.cl.
std::size_t width_of(const runtime::Context& context) {
  if (context.device().info().device_class != device::DeviceClass::kCpu) return 1;
  const bool is_double = context.parameters().text("data_type") == "double";
  return context.parameters().count("vector_bytes") / (is_double ? sizeof(double) : sizeof(float));
}

std::size_t group_of(const runtime::Context& context) { return context.work_group_size(); }

template <typename T>
std::unique_ptr<Execution> make_with(const runtime::Context& context, const Problem& problem,
                                     const LocalMesh& local) {
  const std::size_t width = width_of(context);
  const std::size_t group = group_of(context);
  const Launch launch{.items = local.padded / width,
                      .core = local.core / (width * group) * group,
                      .group = group,
                      .has_parts = true};
  return std::make_unique<KernelExecution<T>>(context, problem, local, launch);
}

}  // namespace

std::size_t throughput_multiple(const runtime::Context& context) {
  return width_of(context) * group_of(context);
}

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const Problem& problem,
                                           const LocalMesh& local) {
  if (context.parameters().text("data_type") == "double") {
    return make_with<double>(context, problem, local);
  }
  return make_with<float>(context, problem, local);
}

}  // namespace fabricmark::shallow_water
