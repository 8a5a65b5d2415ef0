// From texts and defaults to checked, typed parameters.
#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <ranges>
#include <stdexcept>
#include <type_traits>

#include "base/error.hpp"
#include "base/expression.hpp"
#include "base/number_from.hpp"
#include "runtime/device_limits.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/numbers.hpp"
#include "runtime/system_file.hpp"
#include "runtime/variant_choice.hpp"

namespace fabricmark::runtime {

namespace {

using Type = ParameterSpec::Type;

std::string expected(const ParameterSpec& spec) {
  if (!spec.values.empty())
    return fmt::format("one of {}", fmt::join(spec.values | std::views::transform(to_text), ", "));
  constexpr std::array kKinds{"a whole number", "a number", "true or false", "a text"};
  const char* const kind = kKinds.at(static_cast<std::size_t>(spec.type));
  if (!spec.minimum || !spec.maximum) return kind;
  return fmt::format("{} from {:.17g} to {:.17g}", kind, *spec.minimum, *spec.maximum);
}

/// A value with where it came from, for messages.
struct Sourced {
  Value value;
  std::string origin;
};

Error refused(const ParameterSpec& spec, const std::string& given, const std::string& origin) {
  return bad_use(fmt::format("{} = {} ({}) cannot be used", spec.name, given, origin),
                 "give " + expected(spec));
}

std::optional<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{}) return std::nullopt;
  const std::string rest(end, text.data() + text.size());
  if (rest.empty()) return number;
  int shift = 0;
  if (rest == "Ki") shift = 10;
  if (rest == "Mi") shift = 20;
  if (rest == "Gi") shift = 30;
  if (shift != 0) {
    if (number < 0 || number > (std::numeric_limits<std::int64_t>::max() >> shift)) return std::nullopt;
    return number << shift;
  }
  if (number == 2 && rest.starts_with('^')) {
    const std::optional<std::int64_t> exponent = parse_integer(rest.substr(1));
    if (exponent && *exponent >= 0 && *exponent < 63) return std::int64_t{1} << *exponent;
  }
  return std::nullopt;
}

Value parse_text(const ParameterSpec& spec, const std::string& text) {
  const std::string origin = option_name(spec.name);
  switch (spec.type) {
    case Type::kInteger:
      if (const auto number = parse_integer(text)) return *number;
      break;
    case Type::kNumber:
      if (const auto number = number_from<double>(text); number && std::isfinite(*number)) return *number;
      break;
    case Type::kFlag:
      if (text == "true") return true;
      if (text == "false") return false;
      break;
    case Type::kText:
      return text;
  }
  throw refused(spec, "'" + text + "'", origin);
}

/// A default in words, "cores", "banks" or an expression of these and of the parameters before, as its
/// number.
Value evaluated(const ParameterSpec& spec, const Value& value, const DeviceFacts& facts,
                const Parameters& before) {
  const auto* text = std::get_if<std::string>(&value);
  if (spec.type != Type::kInteger || text == nullptr) return value;
  std::map<std::string, double> known = numbers_of(before);
  if (facts.cores) known["cores"] = static_cast<double>(*facts.cores);
  known["banks"] = static_cast<double>(facts.banks);
  known["separate_banks"] = static_cast<double>(facts.separate_banks);
  known["device_matrix_units"] = static_cast<double>(facts.matrix_units);
  if (!facts.cores && text->find("cores") != std::string::npos) {
    throw bad_use(fmt::format("{}: its default '{}' needs the cores of the device, which are not known",
                              spec.name, *text),
                  fmt::format("give {}", option_name(spec.name)));
  }
  Value number;
  try {
    number = evaluate(*text, known);
  } catch (const std::invalid_argument& error) {
    throw bad_use(fmt::format("{}: its default '{}' has no value: {}", spec.name, *text, error.what()),
                  fmt::format("give {}", option_name(spec.name)));
  }
  return number;
}

const Value* for_class(const std::map<std::string, Value>& values, device::DeviceClass device_class) {
  auto found = values.find(device::class_name(device_class));
  // The emulator runs FPGA designs: without a default of its own it takes theirs.
  if (found == values.end() && device_class == device::DeviceClass::kEmulator) found = values.find("fpga");
  if (found == values.end()) found = values.find("");
  return found == values.end() ? nullptr : &found->second;
}

/// Some kinds of kernel allow less than the parameter's range.
void check_largest(const ParameterSpec& spec, const VariantSpec& variant, const Sourced& sourced) {
  const auto largest = variant.largest.find(spec.name);
  const auto* integer = std::get_if<std::int64_t>(&sourced.value);
  if (largest == variant.largest.end() || integer == nullptr) return;
  if (static_cast<double>(*integer) <= largest->second) return;
  throw bad_use(fmt::format("{} = {} ({}) is more than the variant {} takes", spec.name, *integer,
                            sourced.origin, variant.name),
                fmt::format("give {:.17g} or less, or another --variant", largest->second));
}

/// Some kinds of kernel have not all of the parameter's values.
void check_lacks(const ParameterSpec& spec, const VariantSpec& variant, const Sourced& sourced) {
  const auto lacks = variant.lacks.find(spec.name);
  const auto* text = std::get_if<std::string>(&sourced.value);
  if (lacks == variant.lacks.end() || text == nullptr ||
      std::ranges::find(lacks->second, *text) == lacks->second.end())
    return;
  throw bad_use(
      fmt::format("the variant {} has no {} = {} ({})", variant.name, spec.name, *text, sourced.origin),
      "choose another value, or another --variant");
}

/// What was measured to be the fastest on this device; null: nothing.
const Value* tuned_value(const ParameterSpec& spec, const VariantSpec& variant, const DeviceFacts& facts,
                         const Parameters& before) {
  for (const TunedValues& one : facts.tuned) {
    const auto found = one.parameters.find(spec.name);
    if (found != one.parameters.end() && one.is_of(variant.name, before)) return &found->second;
  }
  return nullptr;
}

Sourced declared_default(const ParameterSpec& spec, const VariantSpec& variant, const DeviceFacts& facts,
                         const Parameters& before) {
  if (const Value* value = tuned_value(spec, variant, facts, before)) return {*value, "tuned on this device"};
  if (const auto own = variant.defaults.find(spec.name); own != variant.defaults.end()) {
    if (const Value* value = for_class(own->second, facts.device_class)) {
      return {evaluated(spec, *value, facts, before), "default of the variant " + variant.name};
    }
  }
  const Value* value = for_class(spec.defaults, facts.device_class);
  if (value == nullptr) {
    throw bad_use(
        fmt::format("{} has no default for {} devices", spec.name, device::class_name(facts.device_class)),
        fmt::format("give {}", option_name(spec.name)));
  }
  return {evaluated(spec, *value, facts, before), "default"};
}

/// Defaults that have to be smaller than declared, by parameter, and those that nobody has chosen.
struct Defaults {
  std::map<std::string, std::int64_t> at_most;
  std::vector<std::string> taken;
};

/// The default as a value that is allowed, whatever numbers of the device it follows from.
Sourced default_value(const ParameterSpec& spec, const VariantSpec& variant, const DeviceFacts& facts,
                      const Parameters& before, Defaults& defaults) {
  Sourced found = declared_default(spec, variant, facts, before);
  defaults.taken.push_back(spec.name);
  auto* const number = std::get_if<std::int64_t>(&found.value);
  if (spec.type != Type::kInteger || number == nullptr) return found;
  if (const auto most = defaults.at_most.find(spec.name); most != defaults.at_most.end())
    *number = std::min(*number, most->second);
  *number = nearest_allowed(spec, variant, *number);
  return found;
}

/// What constraints and ranges take a value for.
constexpr auto as_number = [](const auto& value) -> double {
  if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
    return static_cast<double>(value);
  else
    return 0;
};

double modulo(double left, double right) { return right == 0 ? left : std::fmod(left, right); }

mu::Parser constraint_parser(const ConstraintSpec& constraint) {
  mu::Parser parser;
  parser.DefineOprt("%", modulo, mu::prMUL_DIV);
  parser.SetExpr(constraint.expression);
  return parser;
}

Error no_constraint(const ConstraintSpec& constraint, const std::string& where, const std::string& why) {
  return bad_use(
      fmt::format("{}: the constraint '{}' cannot be evaluated: {}", where, constraint.expression, why),
      "correct it in kernel.toml");
}

/// The first constraint that does not hold, with the parameters in it that follow from numbers of the device.
std::optional<Misfit> misfit_of_constraints(const KernelSpec& spec, const Parameters& parameters,
                                            const std::vector<std::string>& of_device) {
  for (const ConstraintSpec& constraint : spec.constraints) {
    check_constraint(spec, constraint, spec.benchmark);
    std::vector<std::string> used;
    std::vector<std::string> shrink;
    try {
      mu::Parser parser = constraint_parser(constraint);
      const mu::varmap_type names = parser.GetUsedVar();  // which the parser forgets with each constant
      for (const auto& [name, unused] : names) {
        const Value& value = parameters.value(name);
        parser.DefineConst(name, std::visit(as_number, value));
        used.push_back(fmt::format("{} = {}", name, to_text(value)));
        if (std::ranges::find(of_device, name) != of_device.end()) shrink.push_back(name);
      }
      if (parser.Eval() != 0) continue;
    } catch (const mu::Parser::exception_type& error) {
      throw no_constraint(constraint, spec.benchmark, error.GetMsg());
    }
    return Misfit{
        bad_use(fmt::format("{} does not hold with {}", constraint.expression, fmt::join(used, ", ")),
                constraint.meaning),
        shrink, /*in_steps=*/true};
  }
  return std::nullopt;
}

/// Where values come from, but for defaults.
struct Sources {
  const std::map<std::string, std::string>& command_line;
  const std::optional<Overrides>& system;
  const std::optional<Overrides>& sidecar;
};

/// What the sidecar says of a parameter of the build; nothing for others.
std::optional<Sourced> built_in(const ParameterSpec& parameter, const std::optional<Overrides>& sidecar) {
  if (!sidecar || parameter.stage != ParameterSpec::Stage::kBuild) return std::nullopt;
  if (!sidecar->parameters.contains(parameter.name)) {
    throw bad_use(fmt::format("the sidecar '{}' does not say {}", sidecar->origin, parameter.name),
                  "add the value the bitstream was built with");
  }
  return Sourced{sidecar->parameters.at(parameter.name), sidecar->origin};
}

/// What somebody has said of a parameter.
std::optional<Sourced> given_value(const ParameterSpec& parameter, const Sources& sources) {
  std::optional<Sourced> chosen;
  if (sources.system && sources.system->parameters.contains(parameter.name))
    chosen = Sourced{sources.system->parameters.at(parameter.name), sources.system->origin};
  const std::optional<Sourced> built = built_in(parameter, sources.sidecar);
  if (built) chosen = built;
  const auto given = sources.command_line.find(parameter.name);
  if (given == sources.command_line.end()) return chosen;
  const Value value = parse_text(parameter, given->second);
  if (built && value != built->value) {
    throw bad_use(
        fmt::format("the bitstream was built with {} = {} ('{}') but the command line says {}",
                    parameter.name, to_text(built->value), built->origin, to_text(value)),
        fmt::format("drop {} or give a bitstream built with that value", option_name(parameter.name)));
  }
  return Sourced{value, option_name(parameter.name)};
}

Parameters resolved_once(const KernelSpec& spec, const VariantSpec& variant, const DeviceFacts& facts,
                         const Sources& sources, Defaults& defaults) {
  Parameters parameters;
  for (const ParameterSpec& parameter : spec.parameters) {
    std::optional<Sourced> chosen = given_value(parameter, sources);
    if (!chosen) chosen = default_value(parameter, variant, facts, parameters, defaults);
    chosen->value = checked_value(parameter, chosen->value, chosen->origin);
    check_largest(parameter, variant, *chosen);
    check_lacks(parameter, variant, *chosen);
    parameters.set(parameter.name, chosen->value);
  }
  return parameters;
}

/// Whether the default names numbers of the device, was measured on it, or was made smaller for it.
bool follows_device(const KernelSpec& spec, const VariantSpec& variant, const DeviceFacts& facts,
                    const Parameters& parameters, const Defaults& defaults, const std::string& name) {
  if (defaults.at_most.contains(name)) return true;
  if (tuned_value(*spec.find(name), variant, facts, parameters) != nullptr) return true;
  const auto own = variant.defaults.find(name);
  const Value* value = own != variant.defaults.end() ? for_class(own->second, facts.device_class) : nullptr;
  if (value == nullptr) value = for_class(spec.find(name)->defaults, facts.device_class);
  const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  return text != nullptr &&
         (text->find("cores") != std::string::npos || text->find("banks") != std::string::npos);
}

std::optional<Misfit> first_misfit(const KernelSpec& spec, const VariantSpec& variant,
                                   const DeviceFacts& facts, const Parameters& parameters,
                                   const Defaults& defaults) {
  if (std::optional<Misfit> found = misfit_of_work_group(variant, facts, parameters)) return found;
  std::vector<std::string> of_device;
  for (const std::string& name : defaults.taken) {
    const bool is_whole = spec.find(name)->type == Type::kInteger;
    if (is_whole && follows_device(spec, variant, facts, parameters, defaults, name))
      of_device.push_back(name);
  }
  return misfit_of_constraints(spec, parameters, of_device);
}

/// Makes the next default smaller that may help; false where none is left.
bool shrink(const KernelSpec& spec, const Misfit& misfit, const Parameters& parameters, Defaults& defaults) {
  for (const std::string& name : misfit.shrink) {
    if (std::ranges::find(defaults.taken, name) == defaults.taken.end()) continue;
    const auto smaller = next_smaller(*spec.find(name), parameters.integer(name), misfit.in_steps);
    if (!smaller) continue;
    defaults.at_most[name] = *smaller;
    return true;
  }
  return false;
}

void refuse_unknown(const KernelSpec& spec, const Overrides& overrides) {
  for (const auto& [name, unused] : overrides.parameters) require_parameter(spec, name, overrides.origin);
}

/// Kernels that start by themselves run on FPGAs only.
void require_autorun(const VariantSpec& variant, device::DeviceClass device_class) {
  using device::DeviceClass;
  if (variant.autorun.empty() || device_class == DeviceClass::kFpga || device_class == DeviceClass::kEmulator)
    return;
  throw bad_use(
      fmt::format("the variant {} has kernels that start by themselves ({}), which a {} does not run",
                  variant.name, fmt::join(variant.autorun, ", "), device::class_name(device_class)),
      "use an FPGA or its emulator, or another --variant");
}

}  // namespace

Value checked_value(const ParameterSpec& spec, Value value, const std::string& origin) {
  // TOML writes 2 where 2.0 is meant.
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && spec.type == Type::kNumber)
    value = static_cast<double>(*whole);
  const double number = std::visit(as_number, value);
  if (value.index() != static_cast<std::size_t>(spec.type) ||
      (!spec.values.empty() && std::ranges::find(spec.values, value) == spec.values.end()) ||
      (spec.minimum && !(number >= *spec.minimum)) || (spec.maximum && !(number <= *spec.maximum))) {
    throw refused(spec, to_text(value), origin);
  }
  return value;
}

Value checked_text(const ParameterSpec& spec, const std::string& text) {
  return checked_value(spec, parse_text(spec, text), option_name(spec.name));
}

void check_constraint(const KernelSpec& spec, const ConstraintSpec& constraint, const std::string& where) {
  std::vector<std::string> names;
  for (const ParameterSpec& one : spec.parameters) {
    if (one.type != Type::kText) names.push_back(one.name);
  }
  try {
    const mu::Parser parser = constraint_parser(constraint);
    for (const auto& [name, unused] : parser.GetUsedVar()) {
      if (std::ranges::find(names, name) == names.end())
        throw no_constraint(
            constraint, where,
            fmt::format("{} is no number of this file; those are {}", name, fmt::join(names, ", ")));
    }
  } catch (const mu::Parser::exception_type& error) {
    throw no_constraint(constraint, where, error.GetMsg());
  }
}

std::string to_text(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value);
}

Parameters resolve(const KernelSpec& spec, const std::string& variant, const DeviceFacts& facts,
                   const std::map<std::string, std::string>& command_line,
                   const std::optional<Overrides>& system, const std::optional<Overrides>& sidecar) {
  const VariantSpec& variant_spec = spec.variant(variant);
  if (system) refuse_unknown(spec, *system);
  if (sidecar) refuse_unknown(spec, *sidecar);
  const Sources sources{command_line, system, sidecar};
  Defaults defaults;
  for (int tries = 0;; ++tries) {
    defaults.taken.clear();
    const Parameters parameters = resolved_once(spec, variant_spec, facts, sources, defaults);
    const std::optional<Misfit> misfit = first_misfit(spec, variant_spec, facts, parameters, defaults);
    if (!misfit) return parameters;
    constexpr int kMostTries = 1000;
    if (tries == kMostTries || !shrink(spec, *misfit, parameters, defaults)) throw Error(misfit->error);
  }
}

Resolved resolve(const KernelSpec& spec, DeviceFacts facts, const Wanted& wanted) {
  Resolved found;
  found.variant = wanted.variant;
  std::optional<Overrides> sidecar;
  if (!wanted.bitstream.empty()) sidecar = load_sidecar(wanted.bitstream, spec);
  if (sidecar && sidecar->variant) {
    if (!found.variant.empty() && found.variant != *sidecar->variant) {
      throw bad_use(fmt::format("the bitstream holds the variant {} ('{}') but the command line says {}",
                                *sidecar->variant, sidecar->origin, found.variant),
                    "drop --variant");
    }
    found.variant = *sidecar->variant;
  }
  if (found.variant.empty()) found.variant = variant_of_transport(spec, wanted.parameters);
  std::optional<Overrides> system;
  if (!wanted.system.empty()) {
    const auto transport = wanted.parameters.find("transport");
    const std::string way = transport == wanted.parameters.end() ? "" : transport->second;
    const bool is_emulated = !found.variant.empty() && spec.variant(found.variant).is_emulated_over(way);
    if (is_emulated && transport == wanted.parameters.end()) {
      throw bad_use(fmt::format("the variant {} with a system, but without a transport", found.variant),
                    "name the way of the kernels with --transport");
    }
    found.system = load_system(wanted.system, spec,
                               {.id = wanted.bitstream_id,
                                .variant = is_emulated ? "" : found.variant,
                                .transport = is_emulated ? way : "",
                                .board = sidecar ? sidecar->design.board : ""});
    system = found.system->overrides;
    if (sidecar) require_same_design(*sidecar, *found.system);
    facts.banks = system->banks.value_or(facts.banks);
    facts.separate_banks = system->memory.separate_banks();
    if (found.variant.empty()) found.variant = system->variant.value_or("");
  }
  if (found.variant.empty()) found.variant = usual_variant(spec, facts.device_class);
  found.banks = facts.banks;
  require_autorun(spec.variant(found.variant), facts.device_class);
  found.spec = built_for(spec, found.variant, facts.replicas);
  default_over_fabric(found.spec, found.variant, wanted.parameters);
  if (sidecar && system && !wanted.bitstream_id.empty()) require_same_build(found.spec, *sidecar, *system);
  found.parameters = resolve(found.spec, found.variant, facts, wanted.parameters, system, sidecar);
  if (sidecar) {
    require_linked_engine(*sidecar, found.spec.variant(found.variant), found.parameters);
    found.loaded = sidecar->design;
  }
  return found;
}

std::map<std::string, std::string> build_definitions(const KernelSpec& spec, const Parameters& parameters,
                                                     device::DeviceClass device_class) {
  std::map<std::string, std::string> definitions;
  for (const ParameterSpec& parameter : spec.parameters) {
    if (parameter.stage != ParameterSpec::Stage::kBuild) continue;
    std::string name = parameter.name;
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    const Value& value = parameters.value(parameter.name);
    definitions[name] =
        std::holds_alternative<bool>(value) ? (std::get<bool>(value) ? "1" : "0") : to_text(value);
    if (!parameter.compiler_option.empty() && definitions[name] == "1")
      definitions[parameter.compiler_option] = "";
    if (name == "DATA_TYPE" && definitions[name] == "half") definitions["FM_NEEDS_HALF"] = "1";
    if (name == "DATA_TYPE" && definitions[name] == "double") definitions["FM_NEEDS_DOUBLE"] = "1";
  }
  if (device_class == device::DeviceClass::kCpu) definitions["FM_CPU"] = "1";
  if (device_class == device::DeviceClass::kEmulator) definitions["FM_EMULATOR"] = "1";
  return definitions;
}

}  // namespace fabricmark::runtime
