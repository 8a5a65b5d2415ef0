// What a program's command line is resolved to, for many command lines, without a device: for the test that
// fabricmark-describe, `fabricmark predict` and the programs agree. Reads and writes JSON.
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "runtime/options.hpp"

namespace {

using namespace fabricmark;
using Json = nlohmann::json;

/// {"class", "cores", "banks", "words"} of a benchmark -> {"variant", "parameters"} or {"error"}.
Json resolved(const runtime::KernelSpec& spec, const Json& asked) {
  const auto parsed =
      runtime::parse_options(asked.at("words").get<std::vector<std::string>>(), "fm_" + spec.benchmark, spec);
  const auto& options = std::get<runtime::Options>(parsed);
  runtime::DeviceFacts facts;
  for (const device::DeviceClass one : device::kDeviceClasses) {
    if (device::class_name(one) == asked.at("class")) facts.device_class = one;
  }
  facts.cores = asked.at("cores").get<std::int64_t>();
  facts.banks = asked.at("banks").get<std::int64_t>();
  const runtime::Resolved found = runtime::resolve(spec, facts, runtime::wanted_by(options));
  Json parameters;
  for (const auto& [name, value] : found.parameters.all())
    std::visit([&, &key = name](const auto& held) { parameters[key] = held; }, value);
  return {{"variant", found.variant}, {"parameters", parameters}};
}

}  // namespace

int main() {
  std::map<std::string, runtime::KernelSpec> specs;
  Json answers = Json::array();
  for (const Json& asked : Json::parse(std::cin)) {
    const auto name = asked.at("benchmark").get<std::string>();
    if (!specs.contains(name))
      specs[name] = runtime::load_kernel_spec(runtime::kernels_folder() / name / "kernel.toml");
    try {
      answers.push_back(resolved(specs.at(name), asked));
    } catch (const Error& error) {
      answers.push_back({{"error", error.what()}});
    }
  }
  std::cout << answers.dump() << '\n';
}
