// Reading kernel.toml and sidecars; resolving them is in resolve.cpp.
#include "runtime/kernel_spec.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/error.hpp"
#include "base/expression.hpp"

#ifndef FABRICMARK_SOURCE_KERNELS
#define FABRICMARK_SOURCE_KERNELS ""
#endif

namespace fabricmark::runtime {

namespace {

namespace fs = std::filesystem;

/// Reads one TOML file with messages that name the file and the place.
class Reader {
 public:
  Reader(const std::string& text, fs::path file) : file_(std::move(file)) {
    try {
      root_ = toml::parse(text, file_.string());
    } catch (const toml::parse_error& error) {
      std::string description(error.description());  // may quote the line's end
      std::ranges::replace_if(
          description, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
      throw bad_use(
          fmt::format("'{}' line {} is not TOML: {}", file_.string(), error.source().begin.line, description),
          "correct that line");
    }
  }

  [[nodiscard]] const toml::table& root() const { return root_; }

  [[nodiscard]] Error wrong(const std::string& key, const std::string& expected) const {
    return bad_use(fmt::format("'{}': {} is missing or wrong", file_.string(), key), "give " + expected);
  }

  [[nodiscard]] Error no_default(const std::string& key, const std::string& text,
                                 const std::string& why) const {
    return bad_use(fmt::format("'{}': {} {:?} is no whole number, nor an expression: {}", file_.string(), key,
                               text, why),
                   "correct it, like max(1, 2^(26 - log_size))");
  }

  [[nodiscard]] std::string text(const toml::table& table, const std::string& key,
                                 const std::string& where) const {
    const auto value = table[key].value_exact<std::string>();
    if (!value || value->empty()) throw wrong(where + key, "a text");
    return *value;
  }

  [[nodiscard]] Value value(const toml::node& node, const std::string& where) const {
    if (const auto integer = node.value_exact<std::int64_t>()) return *integer;
    if (const auto number = node.value_exact<double>()) return *number;
    if (const auto flag = node.value_exact<bool>()) return *flag;
    if (const auto text = node.value_exact<std::string>()) return *text;
    throw wrong(where, "a number, a text or true or false");
  }

  [[nodiscard]] const toml::table& table(const toml::table& parent, const std::string& key,
                                         const std::string& where) const {
    const toml::table* found = parent[key].as_table();
    if (found == nullptr) throw wrong(where + key, "a table");
    return *found;
  }

  /// The tables inside `parent`, in the order of the file.
  [[nodiscard]] std::vector<std::pair<std::string, const toml::table*>> tables(
      const toml::table& parent, const std::string& where) const {
    std::vector<std::pair<std::string, const toml::table*>> found;
    for (const auto& [key, node] : parent) {
      if (!node.is_table()) throw wrong(where + std::string(key.str()), "a table");
      found.emplace_back(key.str(), node.as_table());
    }
    std::ranges::stable_sort(found, [](const auto& left, const auto& right) {
      return left.second->source().begin.line < right.second->source().begin.line;
    });
    return found;
  }

  void only(const toml::table& table, const std::vector<std::string_view>& keys,
            const std::string& where) const {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(keys, key.str()) == keys.end()) {
        throw bad_use(fmt::format("'{}' line {}: unknown key {}{}", file_.string(), node.source().begin.line,
                                  where, std::string(key.str())),
                      fmt::format("use {}", fmt::join(keys, ", ")));
      }
    }
  }

 private:
  fs::path file_;
  toml::table root_;
};

std::map<std::string, Value> class_values(const Reader& reader, const toml::node& node,
                                          const std::string& where) {
  std::map<std::string, Value> values;
  if (const toml::table* per_class = node.as_table()) {
    reader.only(*per_class, {"cpu", "gpu", "fpga", "emulator"}, where + ".");
    for (const auto& [name, value] : *per_class) {
      values[std::string(name.str())] = reader.value(value, where + "." + std::string(name.str()));
    }
  } else {
    values[""] = reader.value(node, where);
  }
  if (values.empty()) throw reader.wrong(where, "a default");
  return values;
}

ParameterSpec::Type parameter_type(const Reader& reader, const std::string& type, const std::string& where) {
  if (type == "int") return ParameterSpec::Type::kInteger;
  if (type == "float") return ParameterSpec::Type::kNumber;
  if (type == "bool") return ParameterSpec::Type::kFlag;
  if (type == "string") return ParameterSpec::Type::kText;
  throw reader.wrong(where + "type", "int, float, bool or string");
}

/// How scaling treats a parameter is for `fabricmark scale`; here it is only checked.
void check_scaling(const Reader& reader, const toml::table& table, const std::string& where) {
  if (table.contains("scope")) {
    const std::string scope = reader.text(table, "scope", where);
    if (scope != "per-rank" && scope != "total") throw reader.wrong(where + "scope", "per-rank or total");
  }
  if (table.contains("dimensions")) {
    const auto dimensions = table["dimensions"].value_exact<std::int64_t>();
    if (!dimensions || *dimensions < 1 || *dimensions > 3)
      throw reader.wrong(where + "dimensions", "1, 2 or 3");
  }
}

/// Throws where a parameter is to be rounded to one that the file does not have.
void check_rounding(const Reader& reader, const toml::table& parameters) {
  for (const auto& [name, node] : parameters) {
    const toml::table& table = *node.as_table();
    if (!table.contains("rounded_to")) continue;
    const std::string where = "parameters." + std::string(name.str()) + ".";
    const std::string other = reader.text(table, "rounded_to", where);
    if (other == name.str() || !parameters.contains(other) || parameters[other]["type"] != "int") {
      throw reader.wrong(where + "rounded_to", "another parameter of type int");
    }
  }
}

ParameterSpec read_parameter(const Reader& reader, const std::string& name, const toml::table& table) {
  const std::string where = "parameters." + name + ".";
  reader.only(
      table,
      {"type", "range", "values", "default", "stage", "unit", "meaning", "scope", "dimensions", "rounded_to"},
      where);
  check_scaling(reader, table, where);
  ParameterSpec spec;
  spec.name = name;
  spec.type = parameter_type(reader, reader.text(table, "type", where), where);
  spec.meaning = reader.text(table, "meaning", where);
  if (table.contains("unit")) spec.unit = reader.text(table, "unit", where);
  const std::string stage = reader.text(table, "stage", where);
  if (stage != "build" && stage != "run") throw reader.wrong(where + "stage", "build or run");
  spec.stage = stage == "build" ? ParameterSpec::Stage::kBuild : ParameterSpec::Stage::kRun;
  if (table.contains("range")) {
    const toml::array* range = table["range"].as_array();
    if (range == nullptr || range->size() != 2 || !range->get(0)->is_number() ||
        !range->get(1)->is_number()) {
      throw reader.wrong(where + "range", "two numbers, [smallest, largest]");
    }
    spec.minimum = range->get(0)->value<double>();
    spec.maximum = range->get(1)->value<double>();
  }
  if (table.contains("values")) {
    const toml::array* values = table["values"].as_array();
    if (values == nullptr || values->empty()) throw reader.wrong(where + "values", "a list of values");
    for (const toml::node& value : *values) spec.values.push_back(reader.value(value, where + "values"));
  }
  if (!table.contains("default")) throw reader.wrong(where + "default", "a value, or one per device class");
  spec.defaults = class_values(reader, *table.get("default"), where + "default");
  return spec;
}

/// Throws where a default in words is none of a whole parameter with these before it.
void check_expressions(const Reader& reader, const std::map<std::string, Value>& defaults,
                       const std::vector<std::string>& before, const std::string& where) {
  for (const auto& [device_class, value] : defaults) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) continue;
    try {
      check_expression(*text, before);
    } catch (const std::invalid_argument& error) {
      throw reader.no_default(where + (device_class.empty() ? "" : "." + device_class), *text, error.what());
    }
  }
}

/// Defaults of whole parameters, also those of variants, may name the device's numbers and what stands
/// before.
void check_defaults(const Reader& reader, const KernelSpec& spec) {
  std::vector<std::string> before{"cores", "banks"};
  for (const ParameterSpec& parameter : spec.parameters) {
    if (parameter.type != ParameterSpec::Type::kInteger) continue;
    check_expressions(reader, parameter.defaults, before, "parameters." + parameter.name + ".default");
    for (const VariantSpec& variant : spec.variants) {
      const auto own = variant.defaults.find(parameter.name);
      if (own == variant.defaults.end()) continue;
      check_expressions(reader, own->second, before,
                        "variants." + variant.name + ".defaults." + parameter.name);
    }
    before.push_back(parameter.name);
  }
}

/// The table of arguments by entry point: lists of { name, kind, ... }.
void read_arguments(const Reader& reader, const toml::table& all, const std::string& variant,
                    VariantSpec& spec) {
  constexpr std::array kKinds{"buffer", "uchar", "uint", "ulong", "float", "double", "real"};
  for (const auto& [key, list] : all) {
    const std::string entry(key.str());
    const std::string where = variant + "arguments." + entry;
    if (std::ranges::find(spec.entry_points, entry) == spec.entry_points.end())
      throw reader.wrong(where, "arguments of an entry point");
    if (!list.is_array()) throw reader.wrong(where, "a list of { name, kind }");
    std::vector<ArgumentSpec>& arguments = spec.arguments[entry];
    for (const toml::node& node : *list.as_array()) {
      if (!node.is_table()) throw reader.wrong(where, "a list of { name, kind }");
      const toml::table& table = *node.as_table();
      reader.only(table, {"name", "kind", "access", "bank", "meaning"}, where + ".");
      arguments.push_back({reader.text(table, "name", where + "."), reader.text(table, "kind", where + ".")});
      if (std::ranges::find(kKinds, arguments.back().kind) == kKinds.end())
        throw reader.wrong(where + ".kind", fmt::format("one of {}", fmt::join(kKinds, ", ")));
    }
  }
}

VariantSpec read_variant(const Reader& reader, const std::string& name, const toml::table& table) {
  const std::string where = "variants." + name + ".";
  reader.only(table, {"file", "entry_points", "style", "arguments", "defaults", "largest"}, where);
  VariantSpec spec;
  spec.name = name;
  spec.file = reader.text(table, "file", where);
  const toml::array* entries = table["entry_points"].as_array();
  if (entries == nullptr || entries->empty())
    throw reader.wrong(where + "entry_points", "a list of kernel names");
  for (const toml::node& entry : *entries) {
    const auto text = entry.value_exact<std::string>();
    if (!text) throw reader.wrong(where + "entry_points", "a list of kernel names");
    spec.entry_points.push_back(*text);
  }
  if (table.contains("arguments"))
    read_arguments(reader, reader.table(table, "arguments", where), where, spec);
  if (table.contains("defaults")) {
    for (const auto& [parameter, node] : reader.table(table, "defaults", where)) {
      const std::string key(parameter.str());
      spec.defaults[key] = class_values(reader, node, where + "defaults." + key);
    }
  }
  if (table.contains("largest")) {
    for (const auto& [parameter, node] : reader.table(table, "largest", where)) {
      const std::string key(parameter.str());
      if (!node.is_number()) throw reader.wrong(where + "largest." + key, "a number");
      spec.largest[key] = *node.value<double>();
    }
  }
  return spec;
}

std::map<std::string, Value> read_values(const Reader& reader, const toml::table& table,
                                         const std::string& where) {
  std::map<std::string, Value> values;
  for (const auto& [key, node] : table) {
    values[std::string(key.str())] = reader.value(node, where + std::string(key.str()));
  }
  return values;
}

}  // namespace

const VariantSpec& KernelSpec::variant(const std::string& name) const {
  std::vector<std::string> names;
  for (const VariantSpec& spec : variants) {
    if (spec.name == name) return spec;
    names.push_back(spec.name);
  }
  throw bad_use(fmt::format("{} has no variant '{}'", benchmark, name),
                fmt::format("use --variant {}", fmt::join(names, " or ")));
}

const ParameterSpec* KernelSpec::find(const std::string& name) const {
  const auto found =
      std::ranges::find_if(parameters, [&](const ParameterSpec& spec) { return spec.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

device::EntryPoint entry_point(const VariantSpec& variant, const std::string& name,
                               const Parameters& parameters) {
  using Kind = device::ArgumentKind;
  const bool is_double = parameters.has("data_type") && parameters.text("data_type") == "double";
  const std::map<std::string, Kind> kinds{{"buffer", Kind::kBuffer},
                                          {"uchar", Kind::kUchar},
                                          {"uint", Kind::kUint},
                                          {"ulong", Kind::kUlong},
                                          {"float", Kind::kFloat},
                                          {"double", Kind::kDouble},
                                          {"real", is_double ? Kind::kDouble : Kind::kFloat}};
  device::EntryPoint entry{.name = name, .arguments = {}};
  const auto declared = variant.arguments.find(name);
  if (declared == variant.arguments.end()) return entry;
  for (const ArgumentSpec& argument : declared->second) {
    entry.arguments.push_back({argument.name, kinds.at(argument.kind)});
  }
  return entry;
}

KernelSpec load_kernel_spec(const fs::path& file) {
  KernelSpec spec = parse_kernel_spec(file_text(file, "kernel description"), file);
  spec.folder = file.parent_path();
  return spec;
}

KernelSpec parse_kernel_spec(const std::string& text, const fs::path& file) {
  const Reader reader(text, file);
  const toml::table& root = reader.root();
  reader.only(root, {"benchmark", "summary", "variants", "parameters", "constraints"}, "");
  KernelSpec spec;
  spec.benchmark = reader.text(root, "benchmark", "");
  spec.summary = reader.text(root, "summary", "");
  for (const auto& [name, table] : reader.tables(reader.table(root, "variants", ""), "variants.")) {
    spec.variants.push_back(read_variant(reader, name, *table));
  }
  if (spec.variants.empty()) throw reader.wrong("variants", "at least [variants.base]");
  if (root.contains("parameters")) {
    const toml::table& parameters = reader.table(root, "parameters", "");
    for (const auto& [name, table] : reader.tables(parameters, "parameters.")) {
      spec.parameters.push_back(read_parameter(reader, name, *table));
    }
    check_rounding(reader, parameters);
    check_defaults(reader, spec);
  }
  if (root.contains("constraints")) {
    const toml::array* list = root["constraints"].as_array();
    if (list == nullptr) throw reader.wrong("constraints", "[[constraints]] entries");
    for (const toml::node& node : *list) {
      if (!node.is_table()) throw reader.wrong("constraints", "[[constraints]] entries");
      const toml::table& table = *node.as_table();
      reader.only(table, {"expression", "meaning"}, "constraints.");
      spec.constraints.push_back(
          {reader.text(table, "expression", "constraints."), reader.text(table, "meaning", "constraints.")});
    }
  }
  return spec;
}

fs::path kernels_folder() {
  if (const char* folder = std::getenv("FABRICMARK_KERNELS"); folder != nullptr && *folder != '\0')
    return folder;
  // Programs that are installed take what was installed with them, also where the sources still lie.
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path().parent_path() / "share" / "fabricmark" / "kernels";
  return fs::is_directory(installed, ignored) ? installed : fs::path(FABRICMARK_SOURCE_KERNELS);
}

std::string file_text(const fs::path& file, const std::string& what, const std::string& remedy) {
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(file, ignored);  // a pipe would be waited for
  std::ifstream stream;
  if (is_file) stream.open(file, std::ios::binary);
  if (!is_file || !stream) throw bad_use(fmt::format("cannot read the {} '{}'", what, file.string()), remedy);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Overrides load_sidecar(const fs::path& bitstream, const KernelSpec& spec) {
  const fs::path file = bitstream.string() + ".toml";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw bad_use(fmt::format("the bitstream '{}' has no sidecar", bitstream.string()),
                  fmt::format("write its variant and build parameters to '{}'", file.string()));
  }
  const Reader reader(file_text(file, "sidecar"), file);
  reader.only(reader.root(), {"benchmark", "variant", "digest", "parameters"}, "");
  const std::string benchmark = reader.text(reader.root(), "benchmark", "");
  if (benchmark != spec.benchmark) {
    throw bad_use(fmt::format("the bitstream '{}' is for {}, not for {}", bitstream.string(), benchmark,
                              spec.benchmark),
                  "give a bitstream of this benchmark");
  }
  if (reader.root().contains("digest") &&
      reader.text(reader.root(), "digest", "") != device::content_digest(file_text(bitstream, "bitstream"))) {
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
                      {"digest", device::content_digest(bitstream)},
                      {"parameters", built}}
       << '\n';
  return text.str();
}

}  // namespace fabricmark::runtime
