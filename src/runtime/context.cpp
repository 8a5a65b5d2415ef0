#include "runtime/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/program.hpp"
#include "device/replicas.hpp"

namespace fabricmark::runtime {

std::optional<Fault> Context::due_fault() const {
  const std::optional<Fault>& fault = conditions_.fault;
  if (!fault || (fault->rank && *fault->rank != ranks_.rank())) return std::nullopt;
  const bool is_in_another =
      fault->repetition && conditions_.repetition != nullptr && *conditions_.repetition != *fault->repetition;
  return is_in_another ? std::nullopt : fault;
}

void Context::require_memory(const MemoryNeed& need, const std::string& size_parameter,
                             double exponent) const {
  const MemoryPlan& plan = need.plan != nullptr ? *need.plan : *memory_plan_;
  plan.require_banks();
  if (!computes()) return;
  const double device_bytes = std::max(plan.bytes(), need.device_bytes);
  const double largest = std::max(plan.largest_bytes(), need.largest_buffer_bytes);
  const device::DeviceInfo& info = device_.info();
  // A CPU device and an emulator take their memory from the host.
  const bool is_in_host = info.is_in_host_memory();
  const double sharers = ranks_.local_size();
  const double own_need = need.host_bytes + (is_in_host ? device_bytes : 0);
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
  check(largest, static_cast<double>(info.max_allocation_bytes), "in one allocation on " + info.name);
  check(device_bytes, static_cast<double>(info.global_memory_bytes), "on " + info.name);
  const MemoryRoom host = host_memory_room();
  check(sharers * own_need, static_cast<double>(host.bytes), host.where);
  const MemoryRoom own = address_room();
  check((ranks_.kind() == "mpi" ? 1 : sharers) * own_need, static_cast<double>(own.bytes), own.where);
}

MemoryUser Context::memory_user(const std::map<std::string, double>& given) const {
  return {.device_class = device_.info().device_class,
          .cores = static_cast<std::int64_t>(device_.info().compute_units),
          .ranks = ranks_.size(),
          .memory = conditions_.board_memory,
          .given = given};
}

void Context::plan_memory(const std::map<std::string, double>& given) const {
  *memory_plan_ = MemoryPlan(variant_, parameters_, memory_user(given));
}

MemoryPlan Context::memory_plan_with(const std::string& parameter, Value value) const {
  Parameters parameters = parameters_;
  parameters.set(parameter, std::move(value));
  return {variant_, parameters, memory_user()};
}

std::vector<device::Buffer> Context::buffers(std::optional<std::size_t> entry,
                                             const std::string& argument) const {
  std::vector<device::Buffer> made;
  for (const PlannedBuffer& one : memory_plan_->of(entry.value_or(variant_.entry_points.size()), argument))
    made.push_back(buffer(one));
  return made;
}

device::Buffer Context::buffer(std::size_t bytes, const ArgumentPlace& place) const {
  if (place.entry == variant_.entry_points.size()) return buffer(bytes);  // of no argument
  device::Placement where{
      .bank = bank_of(variant_, place),
      .is_spread = place.part.has_value() && conditions_.board_memory.separate_banks() > 0,
      .memory = conditions_.board_memory};
  require_planned(bytes, place);
  bank_use_->take(where.bank, bytes);
  std::unique_ptr<device::backend::Kernel> kernel;
  const device::DeviceInfo& info = device_.info();
  // Of SYCL a library of kernels says it, also one that stands in for a board on a CPU.
  const bool asks_kernel = info.device_class == device::DeviceClass::kFpga || info.is_of_sycl();
  if (asks_kernel && program_ && !info.is_dry_run) {
    const device::EntryPoint entry =
        entry_point(variant_, variant_.entry_points.at(place.entry), parameters_);
    const int replica = is_shared(variant_, place) ? 0 : place.replica;
    const auto names = device::replica_names(entry, device::replicas_of(info), replica + 1);
    kernel = device::entry_point(program_, names.back());
    const auto found = std::ranges::find(entry.arguments, place.argument, &device::Argument::name);
    where.kernel = kernel.get();
    where.argument = static_cast<unsigned>(found - entry.arguments.begin());
  }
  return {device_, bytes, conditions_.memory, where};
}

void Context::require_planned(std::size_t bytes, const ArgumentPlace& place) const {
  const std::vector<PlannedBuffer> planned = memory_plan_->of(place.entry, place.argument);
  if (planned.empty()) return;
  const auto found = std::ranges::find_if(
      planned, [&](const PlannedBuffer& one) { return one.place.replica == place.replica; });
  // Other ranks may have less.
  const bool is_right =
      found != planned.end() && (ranks_.size() == 1 ? bytes == found->bytes : bytes <= found->bytes);
  if (is_right) return;
  throw bad_use(fmt::format("kernel.toml plans {} bytes for buffer {} of {}, and the program needs {}",
                            found == planned.end() ? 0 : found->bytes, place.replica, place.argument, bytes),
                "correct its formulas for bytes and buffers");
}

std::size_t Context::work_group_size(std::size_t entry) const {
  return fitting_group(parameters_.count("work_group_size"), entry);
}

std::size_t Context::fitting_group(std::size_t wanted, std::size_t entry) const {
  if (!program_ || !computes()) return wanted;
  const device::EntryPoint declared = entry_point(variant_, variant_.entry_points.at(entry), parameters_);
  const auto names = device::replica_names(declared, device::replicas_of(device_.info()), 1);
  const std::size_t most = device::entry_point(program_, names.front())->most_work_items().value_or(wanted);
  if (wanted <= most) return wanted;
  const std::string note =
      fmt::format("work-groups of {} work-items instead of {}: the kernel {} takes no more on {}", most,
                  wanted, declared.name, device_.info().name);
  if (std::ranges::find(*remarks_, note) == remarks_->end()) remark(note);
  return most;
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

}  // namespace fabricmark::runtime
