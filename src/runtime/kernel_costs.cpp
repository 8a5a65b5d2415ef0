#include "runtime/kernel_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/expression.hpp"
#include "runtime/choice_names.hpp"
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

/// One loop with its formulas compiled, of the names of its entry point and of what the system has.
class Loop {
 public:
  Loop(const LoopTime& time, std::vector<std::string> names, const SystemCosts& system)
      : named_(names.size()), values_(values_of(time, system)) {
    for (const auto& [name, usual] : time.system) names.push_back(name);
    cycles_.emplace(time.cycles, names);
    memory_.emplace(time.memory, names);
    names.insert(names.end(), {"cycles", "memory"});
    seconds_.emplace(time.seconds, std::move(names));
  }

  [[nodiscard]] double seconds(const std::vector<double>& numbers) const {
    std::vector<double> values(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(named_));
    values.insert(values.end(), values_.begin(), values_.end());
    const double cycles = (*cycles_)(values);
    const double memory = (*memory_)(values);
    values.insert(values.end(), {cycles, memory});
    return (*seconds_)(values);
  }

 private:
  static std::vector<double> values_of(const LoopTime& time, const SystemCosts& system) {
    std::vector<double> values;
    for (const auto& [name, usual] : time.system) {
      const bool is_number = usual == "0" || usual == "1";
      if (is_number) {
        values.push_back(system.value_or(name, std::stod(usual)));
      } else {
        values.push_back(system.need(system.find(name) || usual.empty() ? name : usual));
      }
    }
    return values;
  }

  std::size_t named_;
  std::vector<double> values_;  // of the system
  std::optional<Formula> cycles_, memory_, seconds_;
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
    for (const LoopSpec& loop : *loops) loops_.emplace_back(time_of(loop), names, *known.system);
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
    for (const std::string& name : choice_names(spec))
      known_.numbers[name] = choice_number(name, parameters).value_or(0);
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
