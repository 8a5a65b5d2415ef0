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

/// What the bitstream is, where its sidecar says more than it must.
Design read_design(const TomlReader& reader) {
  const toml::table& root = reader.root();
  const auto text = [&](const char* key) {
    return root.contains(key) ? reader.text(root, key, "") : std::string();
  };
  Design design{.board = text("board"),
                .bitstream = text("bitstream"),
                .language = text("language"),
                .tools = text("tools"),
                .shell = text("shell")};
  if (!design.bitstream.empty() && design.bitstream.find('/') == std::string::npos)
    throw reader.wrong("bitstream", "FILE/NAME of systems/bitstreams");
  if (root.contains("clock_hz")) {
    design.clock_hz = root["clock_hz"].value<double>().value_or(0);
    if (!(design.clock_hz > 0)) throw reader.wrong("clock_hz", "the clock in Hz");
  }
  if (!root.contains("resources")) return design;
  const toml::table& resources = reader.table(root, "resources", "");
  reader.only(resources, {"logic", "registers", "bram", "uram", "dsps"}, "resources.");
  for (const auto& [key, node] : resources) {
    const auto number = node.value_exact<std::int64_t>();
    if (!number || *number < 0) throw reader.wrong("resources." + std::string(key.str()), "a whole number");
    design.resources[std::string(key.str())] = *number;
  }
  return design;
}

/// Names of the table `engine`.
std::vector<std::string> read_names(const TomlReader& reader, const toml::table& engine, const char* key) {
  const Error expected = reader.wrong(std::string("engine.") + key, "a list of names");
  const toml::array* const names = engine[key].as_array();
  if (names == nullptr || names->empty()) throw Error(expected);
  std::vector<std::string> found;
  for (const toml::node& name : *names) {
    const auto text = name.value_exact<std::string>();
    if (!text || text->empty()) throw Error(expected);
    found.push_back(*text);
  }
  return found;
}

std::optional<LinkedEngine> read_engine(const TomlReader& reader) {
  if (!reader.root().contains("engine")) return std::nullopt;
  const toml::table& engine = reader.table(reader.root(), "engine", "");
  reader.only(engine, {"transports", "modes"}, "engine.");
  return LinkedEngine{read_names(reader, engine, "transports"), read_names(reader, engine, "modes")};
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
  reader.only(reader.root(),
              {"benchmark", "variant", "language", "digest", "parameters", "board", "bitstream", "clock_hz",
               "tools", "shell", "resources", "engine"},
              "");
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
  sidecar.design = read_design(reader);
  sidecar.engine = read_engine(reader);
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
