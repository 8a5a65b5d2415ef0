#include "runtime/option_help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace fabricmark::runtime {

namespace {

constexpr const char* kKernel = "Kernel and bitstream";
constexpr const char* kDevice = "Device";
constexpr const char* kSystem = "Simulated time";
constexpr const char* kMeasurement = "Measurement";
constexpr const char* kChecks = "Checks and faults";
constexpr const char* kOutput = "Output";

struct Grouped {
  const char* option;
  const char* group;
};

constexpr std::array kGroups{Grouped{"--variant", kKernel},
                             Grouped{"--language", kKernel},
                             Grouped{"--kernel-file", kKernel},
                             Grouped{"--bitstream", kKernel},
                             Grouped{"--save-bitstream", kKernel},
                             Grouped{"--bitstream-id", kKernel},
                             Grouped{"--platform", kDevice},
                             Grouped{"--device", kDevice},
                             Grouped{"--backend", kDevice},
                             Grouped{"--list-devices", kDevice},
                             Grouped{"--memory", kDevice},
                             Grouped{"--ranks", kTransportGroup},
                             Grouped{"--timeout", kTransportGroup},
                             Grouped{"--kernel-timeout", kTransportGroup},
                             Grouped{"--system", kSystem},
                             Grouped{"--simulate", kSystem},
                             Grouped{"--timing-only", kSystem},
                             Grouped{"--repetitions", kMeasurement},
                             Grouped{"--warmup", kMeasurement},
                             Grouped{"--min-time", kMeasurement},
                             Grouped{"--max-time", kMeasurement},
                             Grouped{"--power", kMeasurement},
                             Grouped{"--power-interval", kMeasurement},
                             Grouped{"--power-command", kMeasurement},
                             Grouped{"--skip-validation", kChecks},
                             Grouped{"--inject-fault", kChecks},
                             Grouped{"--inject-delay", kChecks},
                             Grouped{"--json", kOutput},
                             Grouped{"--quiet", kOutput},
                             Grouped{"--timeline", kOutput},
                             Grouped{"--inner-samples", kOutput}};

/// Values whose type says too little, by the option, whichever program has it.
constexpr std::array kValues{std::pair{"--accelerator", "opencl|sycl|none"},
                             std::pair{"--algorithm", "NAME"},
                             std::pair{"--backend", "opencl|xrt"},
                             std::pair{"--bank", "CODE=N"},
                             std::pair{"--bitstream", "FILE"},
                             std::pair{"--bitstream-id", "ID"},
                             std::pair{"--buffer-num", "single|multiple"},
                             std::pair{"--buffers", "N,N"},
                             std::pair{"--checkpoint", "FILE|none"},
                             std::pair{"--codec", "none|float16"},
                             std::pair{"--depths", "FILE|none"},
                             std::pair{"--device", "INDEX|NAME"},
                             std::pair{"--directions", "NAME,NAME"},
                             std::pair{"--fields", "FOLDER|none"},
                             std::pair{"--flow", "NAME[:SETTINGS]"},
                             std::pair{"--gauges", "POINTS|none"},
                             std::pair{"--inject-delay", "SECONDS|SHARE"},
                             std::pair{"--inject-fault", "FAULT"},
                             std::pair{"--issuer", "host|logic"},
                             std::pair{"--json", "FILE|-"},
                             std::pair{"--kernel-file", "FILE"},
                             std::pair{"--kernel-timeout", "SECONDS"},
                             std::pair{"--language", "opencl|sycl"},
                             std::pair{"--largest", "BYTES"},
                             std::pair{"--max-time", "SECONDS"},
                             std::pair{"--memories", "NAME,NAME"},
                             std::pair{"--memory", "KIND"},
                             std::pair{"--mesh", "bay:N|rectangle:...|FILE"},
                             std::pair{"--message-size", "[MIN:]MAX"},
                             std::pair{"--methods", "NAME,NAME"},
                             std::pair{"--min-time", "SECONDS"},
                             std::pair{"--mode", "buffered|streaming"},
                             std::pair{"--only", "PART"},
                             std::pair{"--pattern", "NAME"},
                             std::pair{"--platform", "INDEX|NAME"},
                             std::pair{"--power", "SOURCE"},
                             std::pair{"--power-command", "COMMAND"},
                             std::pair{"--power-interval", "MS"},
                             std::pair{"--reduction", "sum|min|max"},
                             std::pair{"--restart", "FILE|none"},
                             std::pair{"--save-bitstream", "FILE"},
                             std::pair{"--sizes", "MIN:MAX"},
                             std::pair{"--stations", "POINTS|default"},
                             std::pair{"--system", "FILE"},
                             std::pair{"--tail-lat", "N,N"},
                             std::pair{"--tides", "abaco|FILE"},
                             std::pair{"--timeout", "SECONDS"},
                             std::pair{"--topology", "CABLES"},
                             std::pair{"--transport", "NAME"},
                             std::pair{"--type", "TYPE"},
                             std::pair{"--variant", "NAME"}};

/// Empty for an option that is not among these.
std::string named_value(const std::string& option) {
  for (const auto& [name, value] : kValues) {
    if (option == name) return value;
  }
  return {};
}

std::string value_of(const ParameterSpec& parameter) {
  if (!parameter.values.empty()) {
    std::vector<std::string> names;
    for (const Value& value : parameter.values) names.push_back(to_text(value));
    return fmt::format("{}", fmt::join(names, "|"));
  }
  switch (parameter.type) {
    case ParameterSpec::Type::kInteger:
      return "N";
    case ParameterSpec::Type::kNumber:
      return "X";
    case ParameterSpec::Type::kFlag:
      return "true|false";
    case ParameterSpec::Type::kText:
      break;
  }
  const std::string named = named_value(option_name(parameter.name));
  return named.empty() ? "TEXT" : named;  // of a transport of the user's own
}

/// " (1 to 1024)" of CLI11's "INT in [1 - 1024]"; empty for any other check.
std::string range_in_words(const std::string& check) {
  const std::size_t begin = check.find(" in ["), middle = check.find(" - ", begin), end = check.rfind(']');
  if (begin == std::string::npos || middle == std::string::npos || end == std::string::npos) return {};
  return fmt::format(" ({} to {})", check.substr(begin + 5, middle - begin - 5),
                     check.substr(middle + 3, end - middle - 3));
}

}  // namespace

bool is_common_option(const std::string& name) {
  return name == "--help" || name == "--version" ||
         std::ranges::find(kGroups, name, &Grouped::option) != kGroups.end();
}

void simplify_values(CLI::App& app) {
  constexpr std::array kPlain{std::pair{"INT", "N"}, std::pair{"UINT", "N"}, std::pair{"FLOAT", "X"}};
  for (CLI::Option* const option : app.get_options()) {
    for (int i = 0;; ++i) {
      try {
        CLI::Validator* const check = option->get_validator(i);
        option->description(option->get_description() + range_in_words(check->get_description()));
        check->description("");
      } catch (const CLI::OptionNotFound&) {
        break;  // there are no more
      }
    }
    for (const auto& [name, plain] : kPlain) {
      if (option->get_type_name() == name) option->type_name(plain);
    }
    const bool takes_value = !option->get_type_name().empty();
    const std::string named =
        option->get_lnames().empty() ? "" : named_value("--" + option->get_lnames().front());
    if (takes_value && !named.empty()) option->type_name(named);
  }
}

void arrange_help(CLI::App& app, const KernelSpec& spec) {
  simplify_values(app);
  for (const Grouped& one : kGroups) app.get_option(one.option)->group(one.group);
  for (const ParameterSpec& parameter : spec.parameters) {
    const bool is_of_transport = parameter.is_of_transport || parameter.name == "transport";
    app.get_option(option_name(parameter.name))
        ->group(is_of_transport ? kTransportGroup : kProblemGroup)
        ->type_name(value_of(parameter));
  }
  std::vector<std::string> variants;
  for (const VariantSpec& variant : spec.variants) variants.push_back(variant.name);
  app.get_option("--variant")
      ->description(fmt::format("implementation of the kernel: {} [by device and transport]",
                                fmt::join(variants, ", ")));
}

}  // namespace fabricmark::runtime
