#include "runtime/kernel_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/expression.hpp"
#include "runtime/cost_spec.hpp"
#include "runtime/numbers.hpp"

namespace fabricmark::runtime {

namespace {

template <typename T>
double number_of(const void* value) {
  T number;
  std::memcpy(&number, value, sizeof(T));
  return static_cast<double>(number);
}

double number_of(device::ArgumentKind kind, const void* value) {
  using Kind = device::ArgumentKind;
  switch (kind) {
    case Kind::kUchar:
      return number_of<std::uint8_t>(value);
    case Kind::kUint:
      return number_of<std::uint32_t>(value);
    case Kind::kUlong:
      return number_of<std::uint64_t>(value);
    case Kind::kFloat:
      return number_of<float>(value);
    case Kind::kDouble:
      return number_of<double>(value);
    case Kind::kBuffer:
      break;
  }
  return 0;
}

/// One loop with its formulas compiled.
class Loop {
 public:
  Loop(const LoopSpec& spec, const std::vector<std::string>& names, const SystemCosts& system)
      : system_(system) {
    for (const auto& [key, text] : spec.formulas()) formulas_.emplace_back(key, Formula(text, names));
    if (!spec.efficiency.empty()) efficiency_ = system.value_or(spec.efficiency, 1);
  }

  [[nodiscard]] double seconds(const std::vector<double>& values) const {
    double trips = 0;
    double interval = 1;
    double depth = 0;
    double memory = 0;
    for (const auto& [key, formula] : formulas_) {
      const double value = formula(values);
      if (key == "trips") trips = value;
      if (key == "interval") interval = value;
      if (key == "depth") depth = value;
      if (value == 0) continue;
      if (key == "memory_bytes") memory += value / system_.need("bank_bytes_per_second");
      if (key == "memory_cycles") memory += value / memory_hz();
      if (key.starts_with(kWaits)) memory += value * system_.value_or(key.substr(kWaits.size()), 0);
    }
    const double cycles = interval * trips + depth;
    const double kernel = cycles == 0 ? 0 : cycles / system_.need("kernel_hz");
    return std::max(kernel, memory) / efficiency_;
  }

 private:
  static constexpr std::string_view kWaits = "waits.";
  [[nodiscard]] double memory_hz() const {
    const std::optional<double> own = system_.find("memory_hz");
    return own ? *own : system_.need("kernel_hz");
  }

  const SystemCosts& system_;
  std::vector<std::pair<std::string, Formula>> formulas_;
  double efficiency_ = 1;
};

/// What is the same for all kernels of a run.
struct Known {
  std::shared_ptr<const SystemCosts> system;
  std::map<std::string, double> numbers;  ///< that formulas may name, but for arguments
};

class LoopsCost : public device::KernelCost {
 public:
  LoopsCost(const Known& known, const std::vector<std::string>& names, device::EntryPoint entry,
            const std::vector<LoopSpec>* loops)
      : entry_(std::move(entry)), is_known_(loops != nullptr), values_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto number = known.numbers.find(names[i]);
      if (number != known.numbers.end()) values_[i] = number->second;
    }
    for (const device::Argument& argument : entry_.arguments) {
      const auto place = std::ranges::find(names, argument.name);
      places_.push_back(place == names.end() ? std::nullopt
                                             : std::optional<std::size_t>(place - names.begin()));
    }
    if (!is_known_) return;
    for (const LoopSpec& loop : *loops) loops_.emplace_back(loop, names, *known.system);
  }

  [[nodiscard]] const std::string& entry() const override { return entry_.name; }
  void set_number(unsigned index, const void* value, std::size_t /*bytes*/) override {
    if (index < places_.size() && places_[index])
      values_[*places_[index]] = number_of(entry_.arguments[index].kind, value);
  }
  [[nodiscard]] std::optional<double> seconds() const override {
    if (!is_known_) return std::nullopt;
    try {
      double all = 0;
      for (const Loop& loop : loops_) all += loop.seconds(values_);
      return all;
    } catch (const std::invalid_argument& error) {
      throw bad_use(fmt::format("the cost of the kernel {} has no value: {}", entry_.name, error.what()),
                    "correct its formulas in kernel.toml");
    }
  }

 private:
  device::EntryPoint entry_;
  bool is_known_;
  std::vector<double> values_;                      // of the names
  std::vector<std::optional<std::size_t>> places_;  // of the arguments among them
  std::vector<Loop> loops_;
};

class DescribedCosts : public device::CommandCosts {
 public:
  DescribedCosts(std::shared_ptr<const SystemCosts> system, const KernelSpec& spec, VariantSpec variant,
                 const Parameters& parameters, device::Replicas replicas)
      : known_{std::move(system), numbers_of(parameters)}, variant_(std::move(variant)) {
    // Those that hold the matrix where the bitstream says that not all do.
    const std::optional<double> used = known_.system->find("matrix_banks");
    known_.numbers["banks"] = used ? *used : known_.system->need("banks");
    known_.numbers["drain_cycles"] = known_.system->value_or("drain_cycles", 0);
    for (const std::string& name : variant_.entry_points) {
      const std::vector<std::string> names = cost_names(spec, variant_, name);
      const device::EntryPoint entry = entry_point(variant_, name, parameters);
      const auto count = parameters.has("replications") ? parameters.integer("replications") : 1;
      for (const std::string& own : device::replica_names(entry, replicas, static_cast<int>(count)))
        kernels_[own] = {entry, names};
    }
  }

  [[nodiscard]] double start_seconds() const override { return known_.system->value_or("launch_seconds", 0); }
  [[nodiscard]] double copy_seconds(bool is_to_device, std::size_t bytes) const override {
    return known_.system->array_copy_seconds(is_to_device, static_cast<double>(bytes));
  }
  [[nodiscard]] std::unique_ptr<device::KernelCost> kernel(const std::string& name) const override {
    const auto found = kernels_.find(name);
    if (found == kernels_.end()) {
      return std::make_unique<LoopsCost>(known_, std::vector<std::string>(),
                                         device::EntryPoint{name, {}, false}, nullptr);
    }
    const auto& [entry, names] = found->second;
    const auto loops = variant_.costs.find(entry.name);
    return std::make_unique<LoopsCost>(known_, names, entry,
                                       loops == variant_.costs.end() ? nullptr : &loops->second);
  }

 private:
  Known known_;
  VariantSpec variant_;
  std::map<std::string, std::pair<device::EntryPoint, std::vector<std::string>>> kernels_;  ///< as built
};

}  // namespace

std::unique_ptr<device::CommandCosts> command_costs(std::shared_ptr<const SystemCosts> system,
                                                    const KernelSpec& spec, const VariantSpec& variant,
                                                    const Parameters& parameters, device::Replicas replicas) {
  return std::make_unique<DescribedCosts>(std::move(system), spec, variant, parameters, replicas);
}

}  // namespace fabricmark::runtime
