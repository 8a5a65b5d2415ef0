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

struct Shown {
  const char* option;
  const char* group;
  const char* value;  ///< empty for a flag
};

constexpr std::array kShown{Shown{"--variant", kKernel, "NAME"},
                            Shown{"--language", kKernel, "opencl|sycl"},
                            Shown{"--kernel-file", kKernel, "FILE"},
                            Shown{"--bitstream", kKernel, "FILE"},
                            Shown{"--save-bitstream", kKernel, "FILE"},
                            Shown{"--bitstream-id", kKernel, "ID"},
                            Shown{"--platform", kDevice, "INDEX|NAME"},
                            Shown{"--device", kDevice, "INDEX|NAME"},
                            Shown{"--list-devices", kDevice, ""},
                            Shown{"--memory", kDevice, "KIND"},
                            Shown{"--ranks", kTransportGroup, "N"},
                            Shown{"--timeout", kTransportGroup, "SECONDS"},
                            Shown{"--kernel-timeout", kTransportGroup, "SECONDS"},
                            Shown{"--system", kSystem, "FILE"},
                            Shown{"--simulate", kSystem, ""},
                            Shown{"--timing-only", kSystem, ""},
                            Shown{"--repetitions", kMeasurement, "N"},
                            Shown{"--warmup", kMeasurement, "N"},
                            Shown{"--min-time", kMeasurement, "SECONDS"},
                            Shown{"--max-time", kMeasurement, "SECONDS"},
                            Shown{"--power", kMeasurement, "SOURCE"},
                            Shown{"--power-interval", kMeasurement, "MS"},
                            Shown{"--power-command", kMeasurement, "COMMAND"},
                            Shown{"--skip-validation", kChecks, ""},
                            Shown{"--inject-fault", kChecks, "FAULT"},
                            Shown{"--inject-delay", kChecks, "SECONDS|SHARE"},
                            Shown{"--json", kOutput, "FILE"},
                            Shown{"--timeline", kOutput, ""},
                            Shown{"--inner-samples", kOutput, ""}};

/// Of options that are texts, by what a text is.
constexpr std::array kTexts{std::pair{"--accelerator", "opencl|sycl|none"},
                            std::pair{"--algorithm", "NAME"},
                            std::pair{"--bank", "CODE=N"},
                            std::pair{"--bitstream", "FILE"},
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
                            std::pair{"--issuer", "host|logic"},
                            std::pair{"--json", "FILE|-"},
                            std::pair{"--largest", "BYTES"},
                            std::pair{"--memories", "NAME,NAME"},
                            std::pair{"--memory", "KIND"},
                            std::pair{"--mesh", "bay:N|rectangle:...|FILE"},
                            std::pair{"--message-size", "[MIN:]MAX"},
                            std::pair{"--methods", "NAME,NAME"},
                            std::pair{"--mode", "buffered|streaming"},
                            std::pair{"--only", "PART"},
                            std::pair{"--pattern", "NAME"},
                            std::pair{"--platform", "INDEX|NAME"},
                            std::pair{"--reduction", "sum|min|max"},
                            std::pair{"--restart", "FILE|none"},
                            std::pair{"--sizes", "MIN:MAX"},
                            std::pair{"--stations", "POINTS|default"},
                            std::pair{"--system", "FILE"},
                            std::pair{"--tail-lat", "N,N"},
                            std::pair{"--tides", "abaco|FILE"},
                            std::pair{"--topology", "CABLES"},
                            std::pair{"--transport", "NAME"},
                            std::pair{"--type", "TYPE"}};

std::string text_value(const std::string& option) {
  for (const auto& [name, value] : kTexts) {
    if (option == name) return value;
  }
  return "TEXT";  // of a transport of the user's own
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
  return text_value(option_name(parameter.name));
}

}  // namespace

bool is_common_option(const std::string& name) {
  return name == "--help" || name == "--version" ||
         std::ranges::find(kShown, name, &Shown::option) != kShown.end();
}

/// " (1 to 1024)" of CLI11's "INT in [1 - 1024]"; empty for any other check.
std::string range_in_words(const std::string& check) {
  const std::size_t begin = check.find(" in ["), middle = check.find(" - ", begin), end = check.rfind(']');
  if (begin == std::string::npos || middle == std::string::npos || end == std::string::npos) return {};
  return fmt::format(" ({} to {})", check.substr(begin + 5, middle - begin - 5),
                     check.substr(middle + 3, end - middle - 3));
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
    if (option->get_type_name() == "TEXT" && !option->get_lnames().empty()) {
      option->type_name(text_value("--" + option->get_lnames().front()));
    }
  }
}

void arrange_help(CLI::App& app, const KernelSpec& spec) {
  simplify_values(app);
  for (const Shown& one : kShown) {
    CLI::Option* const option = app.get_option(one.option);
    option->group(one.group);
    if (*one.value != '\0') option->type_name(one.value);
  }
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
