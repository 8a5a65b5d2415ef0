// What holds between the parts of a kernel.toml.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.hpp"
#include "base/expression.hpp"
#include "runtime/cost_spec.hpp"
#include "runtime/memory_plan.hpp"

namespace fabricmark::runtime {

namespace {

using Type = ParameterSpec::Type;

bool is_name(const std::string& text) {
  return text.front() >= 'a' && text.front() <= 'z' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

/// Throws Error (bad use) naming the file and the key of what does not fit.
class Checker {
 public:
  Checker(const KernelSpec& spec, const std::filesystem::path& file)
      : spec_(spec), file_(fmt::format("'{}'", file.string())) {}

  void all() {
    if (!is_name(spec_.benchmark)) throw wrong("benchmark", "small letters, digits and _");
    for (const ParameterSpec& parameter : spec_.parameters) {
      const std::string key = "parameters." + parameter.name;
      if (!is_name(parameter.name)) throw wrong(key, "small letters, digits and _ for its name");
      limits(parameter, key + ".");
      scaling(parameter, key + ".");
      defaults(parameter, parameter.defaults, key + ".default");
      for (const VariantSpec& variant : spec_.variants) {
        const auto own = variant.defaults.find(parameter.name);
        if (own != variant.defaults.end())
          defaults(parameter, own->second,
                   fmt::format("variants.{}.defaults.{}", variant.name, parameter.name));
        if (!variant.over_fabric || !variant.over_fabric->contains(parameter.name)) continue;
        defaults(parameter, variant.over_fabric->at(parameter.name),
                 fmt::format("variants.{}.over_fabric.{}", variant.name, parameter.name));
      }
      if (parameter.type == Type::kInteger) before_.push_back(parameter.name);
      if (parameter.name == "data_type") before_.insert(before_.end(), {"element_bytes", "value_bytes"});
    }
    for (const VariantSpec& variant : spec_.variants) values_of(variant);
    check_costs(spec_, file_);
    check_memory(spec_, file_);
    for (const ConstraintSpec& constraint : spec_.constraints) check_constraint(spec_, constraint, file_);
  }

 private:
  [[nodiscard]] Error wrong(const std::string& key, const std::string& expected) const {
    return bad_use(fmt::format("{}: {} is missing or wrong", file_, key), "give " + expected);
  }

  void limits(const ParameterSpec& parameter, const std::string& where) const {
    if (parameter.minimum) {
      const bool is_number = parameter.type == Type::kInteger || parameter.type == Type::kNumber;
      if (!is_number || !parameter.values.empty())
        throw wrong(where + "range", "values alone, or a number's range");
      if (!(*parameter.minimum <= *parameter.maximum)) throw wrong(where + "range", "the smaller end first");
    }
    ParameterSpec any = parameter;
    any.values.clear();
    for (const Value& value : parameter.values)
      static_cast<void>(checked_value(any, value, file_ + ": " + where + "values"));
  }

  void scaling(const ParameterSpec& parameter, const std::string& where) const {
    const bool is_scaled = parameter.is_total || parameter.dimensions != 1 || !parameter.rounded_to.empty();
    if (is_scaled && parameter.type != Type::kInteger)
      throw wrong(where + "type", "int, as it says how it scales");
    if (parameter.rounded_to.empty()) return;
    const ParameterSpec* other = spec_.find(parameter.rounded_to);
    if (other == nullptr || other->type != Type::kInteger || other->name == parameter.name)
      throw wrong(where + "rounded_to", "another parameter of type int");
  }

  /// Those of whole parameters may name the device's numbers and what stands before.
  void defaults(const ParameterSpec& parameter, const std::map<std::string, Value>& values,
                const std::string& where) const {
    for (const auto& [device_class, value] : values) {
      const std::string key = where + (device_class.empty() ? "" : "." + device_class);
      const auto* text = std::get_if<std::string>(&value);
      if (parameter.type != Type::kInteger || text == nullptr) {
        static_cast<void>(checked_value(parameter, value, file_ + ": " + key));
        continue;
      }
      try {
        check_expression(*text, before_);
      } catch (const std::invalid_argument& error) {
        throw bad_use(fmt::format("{}: {} {:?} is no whole number, nor an expression: {}", file_, key, *text,
                                  error.what()),
                      "correct it, like max(1, 2^(26 - log_size))");
      }
    }
  }

  void values_of(const VariantSpec& variant) const {
    const std::string where = fmt::format("variants.{}.", variant.name);
    for (const auto& [name, values] : variant.defaults) known(where + "defaults." + name, name);
    if (variant.over_fabric) {
      for (const auto& [name, values] : *variant.over_fabric) known(where + "over_fabric." + name, name);
    }
    for (const auto& [name, largest] : variant.largest) {
      const ParameterSpec& parameter = known(where + "largest." + name, name);
      if (parameter.type != Type::kInteger)
        throw wrong(where + "largest." + name, "it for a parameter of type int only");
      static_cast<void>(
          checked_value(parameter, static_cast<std::int64_t>(largest), file_ + ": " + where + "largest"));
    }
    for (const auto& [name, values] : variant.lacks) {
      const ParameterSpec& parameter = known(where + "lacks." + name, name);
      for (const std::string& value : values) {
        static_cast<void>(checked_value(parameter, value, file_ + ": " + where + "lacks." + name));
      }
    }
    for (const auto& [name, values] : variant.tuned_at)
      defaults(known(where + "tuned_at." + name, name), values, where + "tuned_at." + name);
    for (const auto& [name, classes] : variant.tuned) {
      const std::string key = where + "tuned." + name;
      const ParameterSpec& parameter = known(key, name);
      for (const auto& [unused, values] : classes) {
        for (const Value& value : values)
          static_cast<void>(checked_value(parameter, value, file_ + ": " + key));
      }
    }
    work_group(variant.work_group, where + "work_group.");
  }

  void work_group(const WorkGroupSpec& group, const std::string& where) const {
    std::vector<std::string> names{"value_bytes"};
    for (const ParameterSpec& parameter : spec_.parameters) {
      if (parameter.type == Type::kInteger) names.push_back(parameter.name);
    }
    for (const auto& [key, text] :
         {std::pair{"work_items", &group.work_items}, {"local_bytes", &group.local_bytes}}) {
      if (text->empty()) continue;
      try {
        check_expression(*text, names);
      } catch (const std::invalid_argument& error) {
        throw bad_use(
            fmt::format("{}: {}{} {:?} is no expression: {}", file_, where, key, *text, error.what()),
            "correct it; it may name whole parameters and value_bytes");
      }
    }
    for (const std::string& name : group.shrink) {
      if (known(where + "shrink", name).type != Type::kInteger)
        throw wrong(where + "shrink", "names of parameters of type int");
    }
    const auto is_class = [](const std::string& name) {
      return std::ranges::find(device::kDeviceClasses, name, device::class_name) !=
             device::kDeviceClasses.end();
    };
    if (!std::ranges::all_of(group.on, is_class)) throw wrong(where + "on", "classes of devices");
  }

  const ParameterSpec& known(const std::string& key, const std::string& name) const {
    const ParameterSpec* parameter = spec_.find(name);
    if (parameter == nullptr) throw wrong(key, "the name of a parameter of this file");
    return *parameter;
  }

  const KernelSpec& spec_;
  std::string file_;
  /// What a default may name.
  std::vector<std::string> before_{"cores", "banks", "separate_banks", "device_matrix_units"};
};

}  // namespace

void check_kernel_spec(const KernelSpec& spec, const std::filesystem::path& file) {
  Checker(spec, file).all();
}

}  // namespace fabricmark::runtime
