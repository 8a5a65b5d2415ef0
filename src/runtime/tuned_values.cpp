#include "runtime/tuned_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "device/program.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

namespace {

using nlohmann::json;

constexpr const char* kSchema = "fabricmark-kernel-tuning/1";
constexpr const char* kRemedy = "remove it, or run `fabricmark tune --kernels` again";

Value value_of(const json& said) {
  if (said.is_boolean()) return said.get<bool>();
  if (said.is_number_integer()) return said.get<std::int64_t>();
  if (said.is_number()) return said.get<double>();
  return said.get<std::string>();
}

TunedValues read(const json& kernel, const KernelSpec& spec, const std::string& file) {
  TunedValues found{.variant = kernel.at("variant").get<std::string>(),
                    .data_type = kernel.value("data_type", ""),
                    .created = kernel.at("created").get<std::string>(),
                    .parameters = {}};
  for (const auto& [name, said] : kernel.at("parameters").items()) {
    if (!spec.variant(found.variant).tuned.contains(name)) {
      throw bad_use(
          fmt::format("'{}': {} of the variant {} is not tuned by this version", file, name, found.variant),
          kRemedy);
    }
    found.parameters[name] = checked_value(*spec.find(name), value_of(said), file);
  }
  return found;
}

bool is_at(const json& kernel, const TunedPlace& place) {
  return kernel.at("host").at("cpu") == place.processor && kernel.at("device").at("name") == place.device &&
         kernel.at("device").at("driver") == place.driver;
}

}  // namespace

std::vector<TunedValues> kept_values(const KernelSpec& spec, const TunedPlace& place) {
  const std::filesystem::path cache = device::cache_folder();
  const std::filesystem::path file = cache / "tuning" / "kernels" / (spec.benchmark + ".json");
  std::error_code ignored;
  if (cache.empty() || !std::filesystem::is_regular_file(file, ignored)) return {};
  const auto wrong = [&](const std::string& why) {
    return bad_use(fmt::format("'{}' is no file of `fabricmark tune --kernels`: {}", file.string(), why),
                   kRemedy);
  };
  std::vector<TunedValues> found;
  try {
    const json document = json::parse(file_text(file, "file of `fabricmark tune --kernels`", kRemedy));
    if (document.at("schema") != kSchema) throw wrong("it has another format");
    for (const json& kernel : document.at("kernels")) {
      if (is_at(kernel, place)) found.push_back(read(kernel, spec, file.string()));
    }
  } catch (const json::exception& error) {
    throw wrong(error.what());
  }
  return found;
}

std::string as_text(const std::vector<TunedValues>& values) {
  std::string text;
  for (const TunedValues& one : values) {
    text += fmt::format("{} {}\n", one.variant, one.data_type);
    for (const auto& [name, value] : one.parameters) text += fmt::format("{} = {}\n", name, to_text(value));
  }
  return text;
}

std::string tuned_note(const std::vector<TunedValues>& values, const std::string& variant,
                       const Parameters& parameters, const std::map<std::string, std::string>& given) {
  for (const TunedValues& one : values) {
    if (!one.is_of(variant, parameters)) continue;
    std::vector<std::string> said;
    for (const auto& [name, value] : one.parameters) {
      if (!given.contains(name) && parameters.value(name) == value)
        said.push_back(fmt::format("{} = {}", name, to_text(value)));
    }
    if (!said.empty()) {
      return fmt::format("{} (cached by `fabricmark tune --kernels` at {})", fmt::join(said, ", "),
                         one.created);
    }
  }
  return "";
}

}  // namespace fabricmark::runtime
