#include "runtime/benchmark.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::runtime {

void Context::require_memory(const MemoryNeed& need, const std::string& size_parameter,
                             double exponent) const {
  if (!computes()) return;
  const device::DeviceInfo& info = device_.info();
  // A CPU device and an emulator take their memory from the host.
  const bool is_in_host = info.is_in_host_memory();
  const double sharers = ranks_.local_size();
  const double host_need = sharers * (need.host_bytes + (is_in_host ? need.device_bytes : 0));
  const auto check = [&](double wanted, double there, const std::string& where) {
    if (wanted <= there) return;
    const bool is_logarithm = size_parameter.starts_with("log_");
    const std::string remedy =
        is_logarithm ? fmt::format("reduce {} by {}", size_parameter, std::ceil(std::log2(wanted / there)))
                     : fmt::format("reduce {} to below {:.2g} times that", size_parameter,
                                   std::pow(there / wanted, 1 / exponent));
    throw bad_use(fmt::format("{} = {} needs {:.3g} GB {}, which has {:.3g} GB", size_parameter,
                              to_text(parameters_.value(size_parameter)), wanted / 1e9, where, there / 1e9),
                  remedy);
  };
  check(need.largest_buffer_bytes, static_cast<double>(info.max_allocation_bytes),
        "in one allocation on " + info.name);
  check(need.device_bytes, static_cast<double>(info.global_memory_bytes), "on " + info.name);
  check(host_need, static_cast<double>(available_memory_bytes()), "on the host");
}

double Context::kernel_seconds(const std::string& entry, const std::vector<std::uint64_t>& arguments) const {
  const std::optional<double> seconds = [&]() -> std::optional<double> {
    if (!conditions_.kernel_costs) return std::nullopt;
    const std::unique_ptr<device::KernelCost> cost = conditions_.kernel_costs->kernel(entry);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      cost->set_number(static_cast<unsigned>(i), &arguments[i], sizeof(arguments[i]));
    return cost->seconds();
  }();
  if (!seconds) {
    throw bad_use(fmt::format("nothing says what the kernel {} of {} takes", entry, variant_.name),
                  "name a system, and declare the kernel's costs in kernel.toml");
  }
  return *seconds;
}

std::vector<DerivedMetric> Benchmark::derive(const std::map<std::string, LapSeconds>& /*laps*/) const {
  return {};
}

void Benchmark::inject(const Fault& /*fault*/) {
  throw bad_use("this benchmark cannot inject faults", "leave out --inject-fault");
}

}  // namespace fabricmark::runtime
