#include "runtime/choice_names.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace fabricmark::runtime {

namespace {

constexpr std::string_view kIs = "_is_";

/// A value with what no name may have replaced by _.
std::string name_of(std::string value) {
  std::ranges::replace_if(
      value, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return value;
}

}  // namespace

std::vector<std::string> choice_names(const KernelSpec& spec) {
  std::vector<std::string> names;
  for (const ParameterSpec& parameter : spec.parameters) {
    if (parameter.type != ParameterSpec::Type::kText) continue;
    for (const Value& value : parameter.values)
      names.push_back(parameter.name + std::string(kIs) + name_of(to_text(value)));
  }
  return names;
}

std::optional<std::string> parameter_of_choice(const std::string& name) {
  const std::size_t place = name.find(kIs);
  return place == std::string::npos ? std::nullopt : std::optional(name.substr(0, place));
}

std::optional<double> choice_number(const std::string& name, const Parameters& parameters) {
  const std::optional<std::string> parameter = parameter_of_choice(name);
  if (!parameter || !parameters.has(*parameter)) return std::nullopt;
  return name_of(parameters.text(*parameter)) == name.substr(parameter->size() + kIs.size()) ? 1 : 0;
}

}  // namespace fabricmark::runtime
