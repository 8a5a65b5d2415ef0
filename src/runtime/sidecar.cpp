// What stands beside a bitstream: the variant and the parameters that it was built with.
#include <sstream>

#include "base/digest.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/toml_reader.hpp"

namespace fabricmark::runtime {

namespace {

std::map<std::string, Value> read_values(const TomlReader& reader, const toml::table& table,
                                         const std::string& where) {
  std::map<std::string, Value> values;
  for (const auto& [key, node] : table) {
    values[std::string(key.str())] = reader.value(node, where + std::string(key.str()));
  }
  return values;
}

}  // namespace

Overrides load_sidecar(const std::filesystem::path& bitstream, const KernelSpec& spec) {
  const std::filesystem::path file = bitstream.string() + ".toml";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw bad_use(fmt::format("the bitstream '{}' has no sidecar", bitstream.string()),
                  fmt::format("write its variant and build parameters to '{}'", file.string()));
  }
  const TomlReader reader(file_text(file, "sidecar"), file);
  reader.only(reader.root(), {"benchmark", "variant", "digest", "parameters"}, "");
  const std::string benchmark = reader.text(reader.root(), "benchmark", "");
  if (benchmark != spec.benchmark) {
    throw bad_use(fmt::format("the bitstream '{}' is for {}, not for {}", bitstream.string(), benchmark,
                              spec.benchmark),
                  "give a bitstream of this benchmark");
  }
  if (reader.root().contains("digest") &&
      reader.text(reader.root(), "digest", "") != content_digest(file_text(bitstream, "bitstream"))) {
    throw bad_use(fmt::format("the bitstream '{}' is damaged, or not the one that '{}' describes",
                              bitstream.string(), file.string()),
                  "build it again, or remove the digest from the sidecar of a bitstream that you trust");
  }
  Overrides sidecar;
  sidecar.origin = file.string();
  sidecar.variant = reader.text(reader.root(), "variant", "");
  sidecar.parameters = read_values(reader, reader.table(reader.root(), "parameters", ""), "parameters.");
  return sidecar;
}

std::string sidecar_text(const KernelSpec& spec, const std::string& variant, const Parameters& parameters,
                         const std::string& bitstream) {
  toml::table built;
  for (const ParameterSpec& parameter : spec.parameters) {
    if (parameter.stage != ParameterSpec::Stage::kBuild) continue;
    std::visit([&](const auto& value) { built.insert_or_assign(parameter.name, value); },
               parameters.value(parameter.name));
  }
  std::ostringstream text;
  text << toml::table{{"benchmark", spec.benchmark},
                      {"variant", variant},
                      {"digest", content_digest(bitstream)},
                      {"parameters", built}}
       << '\n';
  return text.str();
}

}  // namespace fabricmark::runtime
