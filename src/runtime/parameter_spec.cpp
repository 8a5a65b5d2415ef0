// Parameters of kernel.toml and transport.toml, and the transports that there are.
#include "runtime/parameter_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

#include "base/error.hpp"
#include "runtime/outside_transports.hpp"
#include "transport/transport_texts.hpp"  // written by CMake from the folders that have one

namespace fabricmark::runtime {

namespace {

ParameterSpec::Type parameter_type(const TomlReader& reader, const std::string& type,
                                   const std::string& where) {
  const auto* const found = std::ranges::find(ParameterSpec::kTypes, type);
  if (found == ParameterSpec::kTypes.end()) throw reader.wrong(where + "type", "int, float, bool or string");
  return static_cast<ParameterSpec::Type>(found - ParameterSpec::kTypes.begin());
}

void read_scaling(const TomlReader& reader, const toml::table& table, const std::string& where,
                  ParameterSpec& spec) {
  if (table.contains("scope")) {
    const std::string scope = reader.text(table, "scope", where);
    if (scope != "per-rank" && scope != "total") throw reader.wrong(where + "scope", "per-rank or total");
    spec.is_total = scope == "total";
  }
  if (table.contains("dimensions")) {
    const auto dimensions = table["dimensions"].value_exact<std::int64_t>();
    if (!dimensions || *dimensions < 1 || *dimensions > 3)
      throw reader.wrong(where + "dimensions", "1, 2 or 3");
    spec.dimensions = static_cast<int>(*dimensions);
  }
  if (table.contains("rounded_to")) spec.rounded_to = reader.text(table, "rounded_to", where);
  if (table.contains("compiler_option")) spec.compiler_option = reader.text(table, "compiler_option", where);
}

Between read_between(const TomlReader& reader) {
  constexpr std::array kWords{"devices", "hosts", "streams", "engines"};  // by the number of the kind
  const auto* const found = std::ranges::find(kWords, reader.text(reader.root(), "between", ""));
  if (found == kWords.end()) throw reader.wrong("between", "devices, hosts, streams or engines");
  return static_cast<Between>(found - kWords.begin());
}

/// Whether the values are the transports that there are.
bool names_transports(const toml::table& table) {
  return table["values"].value_exact<std::string>() == "transports";
}

/// The transports of kernels that a benchmark's kernels are for: all where they are dataflow kernels, or
/// where their messages may go over an emulated fabric, for others those that their variant names.
std::vector<std::string> kernel_transports(const KernelSpec& spec) {
  std::vector<std::string> found;
  for (const VariantSpec& variant : spec.variants) {
    found.insert(found.end(), variant.transports.begin(), variant.transports.end());
    if (!variant.is_dataflow() && !variant.over_fabric) continue;
    for (const TransportSpec& transport : transport_specs()) {
      if (!transport.is_between_memories()) found.push_back(transport.name);
    }
  }
  return found;
}

/// Those that the parameter may name: `memory` says between which memories they move messages. Of kernels
/// only those of `kernel_transports`.
std::vector<const TransportSpec*> transports_of(const TomlReader& reader, const toml::table& table,
                                                const std::string& where,
                                                const std::vector<std::string>& kernel_transports) {
  std::optional<Between> memories;
  if (table.contains("memory")) {
    const std::string memory = reader.text(table, "memory", where);
    if (memory != "device" && memory != "host") throw reader.wrong(where + "memory", "device or host");
    memories = memory == "device" ? Between::kDevices : Between::kHosts;
  }
  std::vector<const TransportSpec*> found;
  for (const TransportSpec& transport : transport_specs()) {
    const bool fits = transport.is_between_memories()
                          ? transport.between == memories.value_or(transport.between)
                          : std::ranges::find(kernel_transports, transport.name) != kernel_transports.end();
    if (fits) found.push_back(&transport);
  }
  return found;
}

ParameterSpec read_parameter(const TomlReader& reader, const std::string& name, const toml::table& table,
                             const std::vector<std::string>& kernel_transports) {
  const std::string where = "parameters." + name + ".";
  reader.only(table,
              {"type", "range", "values", "default", "stage", "unit", "meaning", "scope", "dimensions",
               "rounded_to", "memory", "compiler_option"},
              where);
  ParameterSpec spec;
  read_scaling(reader, table, where, spec);
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
  if (names_transports(table)) {
    std::vector<std::string> ways;
    for (const TransportSpec* transport : transports_of(reader, table, where, kernel_transports)) {
      spec.values.emplace_back(transport->name);
      ways.push_back(fmt::format("{} ({})", transport->name, transport->summary));
    }
    spec.meaning += fmt::format(": {}", fmt::join(ways, " or "));
  } else if (table.contains("values")) {
    const toml::array* values = table["values"].as_array();
    if (values == nullptr || values->empty()) throw reader.wrong(where + "values", "a list of values");
    for (const toml::node& value : *values) spec.values.push_back(reader.value(value, where + "values"));
  }
  if (!table.contains("default")) throw reader.wrong(where + "default", "a value, or one per device class");
  spec.defaults = class_values(reader, *table.get("default"), where + "default");
  return spec;
}

/// A transport.toml: one transport, or one for each protocol.
std::vector<TransportSpec> read_transport(const std::string& name, const std::string& text,
                                          const std::filesystem::path& file) {
  const TomlReader reader(text, file);
  reader.only(reader.root(), {"summary", "between", "memory", "protocols", "parameters"}, "");
  TransportSpec spec{
      .name = name,
      .folder = name,
      .protocol = {},
      .summary = reader.text(reader.root(), "summary", ""),
      .between = read_between(reader),
      .memory = reader.root().contains("memory") ? reader.text(reader.root(), "memory", "") : "",
      .parameters = {}};
  if (reader.root().contains("parameters")) {
    for (const auto& [option, table] :
         reader.tables(reader.table(reader.root(), "parameters", ""), "parameters.")) {
      spec.parameters.push_back(read_parameter(reader, option, *table, {}));
    }
  }
  if (!reader.root().contains("protocols")) return {spec};
  std::vector<TransportSpec> found;
  for (const std::string& protocol : read_names(reader, reader.root(), "protocols", "")) {
    found.push_back(spec);
    found.back().name += "-" + protocol;
    found.back().protocol = protocol;
    found.back().summary += " over " + protocol;
  }
  return found;
}

/// Adds a transport whose code is a library.
void add_outside(const std::filesystem::path& file, std::vector<TransportSpec>& found) {
  std::string name = file.parent_path().filename().string();
  std::ranges::replace(name, '_', '-');
  std::vector<TransportSpec> own = read_transport(name, file_text(file, "description"), file);
  KernelSpec options;  // checked as those of a kernel are
  options.benchmark = "any";
  options.parameters = own.front().parameters;
  check_kernel_spec(options, file);
  if (own.front().is_between_memories()) {
    throw bad_use(fmt::format("'{}': a transport between memories is no library of its own", file.string()),
                  "give streams or engines for between, or add its folder to src/transport");
  }
  for (TransportSpec& spec : own) {
    for (const TransportSpec& other : found) {
      if (other.name == spec.name ||
          (other.folder == spec.folder && other.library != outside_library(file))) {
        throw bad_use(fmt::format("'{}': there is another transport '{}'{}", file.string(), other.name,
                                  other.library.empty() ? "" : fmt::format(", '{}'", other.library.string())),
                      fmt::format("give its folder, library and namespace another name, or take it out of {}",
                                  kTransportFolders));
      }
    }
    spec.library = outside_library(file);
    found.push_back(std::move(spec));
  }
}

}  // namespace

std::map<std::string, Value> class_values(const TomlReader& reader, const toml::node& node,
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

std::vector<std::string> read_names(const TomlReader& reader, const toml::table& table,
                                    const std::string& key, const std::string& where) {
  const toml::array* list = table[key].as_array();
  if (list == nullptr || list->empty()) throw reader.wrong(where + key, "a list of kernel names");
  std::vector<std::string> names;
  for (const toml::node& node : *list) {
    const auto text = node.value_exact<std::string>();
    if (!text) throw reader.wrong(where + key, "a list of kernel names");
    names.push_back(*text);
  }
  return names;
}

void read_parameters(const TomlReader& reader, const toml::table& parameters, KernelSpec& spec) {
  const std::vector<std::string> of_kernels = kernel_transports(spec);
  for (const auto& [name, table] : reader.tables(parameters, "parameters.")) {
    spec.parameters.push_back(read_parameter(reader, name, *table, of_kernels));
    if (!names_transports(*table)) continue;
    for (const TransportSpec* transport :
         transports_of(reader, *table, "parameters." + name + ".", of_kernels)) {
      for (const ParameterSpec& option : transport->parameters) {  // protocols share theirs
        const ParameterSpec* const other = spec.find(option.name);
        if (parameters.contains(option.name) || (other != nullptr && other->type != option.type)) {
          throw bad_use(fmt::format("parameters.{} of the transport {} is another parameter of {}, too",
                                    option.name, transport->name, spec.benchmark),
                        "give it another name");
        }
        if (other != nullptr) continue;
        spec.parameters.push_back(option);
        spec.parameters.back().is_of_transport = true;
      }
    }
  }
}

void require_parameter(const KernelSpec& spec, const std::string& name, const std::string& origin) {
  if (spec.find(name) != nullptr) return;
  const std::string place = origin.empty() ? "" : fmt::format(" ('{}')", origin);
  throw bad_use(fmt::format("{} has no parameter '{}'{}", spec.benchmark, name, place),
                fmt::format("use one of {}",
                            fmt::join(spec.parameters | std::views::transform(&ParameterSpec::name), ", ")));
}

std::string option_name(const std::string& parameter) {
  std::string name = "--" + parameter;
  std::ranges::replace(name, '_', '-');
  return name;
}

void check_given(const std::string& option, const std::string& text) {
  // An empty text, such as an unset variable of a script, must not pass as "not given", and CLI11 takes the
  // next option for a value that is missing.
  if (text.empty() || text.starts_with("--"))
    throw bad_use(option + " is given without a value", "give one, or leave the option out");
}

const std::vector<TransportSpec>& transport_specs() {
  static const std::vector<TransportSpec> specs = [] {
    std::vector<TransportSpec> found;
    for (const auto& [name, text] : kTransportTexts) {
      for (TransportSpec& spec : read_transport(name, text, std::string(name) + "/transport.toml"))
        found.push_back(std::move(spec));
    }
    for (const std::filesystem::path& file : outside_transports()) add_outside(file, found);
    return found;
  }();
  return specs;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const TransportSpec& spec : transport_specs()) names.push_back(spec.name);
  return names;
}

const TransportSpec* find_transport(const std::string& name) {
  const auto found = std::ranges::find(transport_specs(), name, &TransportSpec::name);
  return found == transport_specs().end() ? nullptr : &*found;
}

std::string memory_over(const std::string& transport, const std::string& asked) {
  const TransportSpec* const spec = find_transport(transport);
  if (!asked.empty()) return asked;
  return spec == nullptr || spec->memory.empty() ? "buffer" : spec->memory;
}

const TransportSpec& transport_spec(const std::string& name) {
  if (const TransportSpec* const found = find_transport(name)) return *found;
  throw bad_use(fmt::format("there is no transport '{}'", name),
                fmt::format("use one of {}", fmt::join(transport_names(), ", ")));
}

std::vector<std::string> transports_between(std::initializer_list<Between> kinds) {
  std::vector<std::string> names;
  for (const TransportSpec& spec : transport_specs()) {
    if (std::ranges::find(kinds, spec.between) != kinds.end()) names.push_back(spec.name);
  }
  return names;
}

}  // namespace fabricmark::runtime
