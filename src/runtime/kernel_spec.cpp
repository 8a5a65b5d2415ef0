// Reading kernel.toml; resolving what it says is in resolve.cpp.
#include "runtime/kernel_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>

#include "base/error.hpp"
#include "base/expression.hpp"
#include "runtime/cost_spec.hpp"
#include "runtime/memory_plan.hpp"
#include "runtime/parameter_spec.hpp"
#include "runtime/quantities.hpp"
#include "runtime/toml_reader.hpp"

#ifndef FABRICMARK_SOURCE_KERNELS
#define FABRICMARK_SOURCE_KERNELS ""
#endif

namespace fabricmark::runtime {

namespace {

namespace fs = std::filesystem;

/// The parameter that says how many replicas there are.
constexpr const char* kReplications = "replications";

/// "real" is the benchmark's data type. None for a kind that there is not.
std::optional<device::ArgumentKind> argument_kind(const std::string& name, bool real_is_double) {
  if (name == "real") return real_is_double ? device::ArgumentKind::kDouble : device::ArgumentKind::kFloat;
  for (const auto& [known, kind] : device::kArgumentKinds) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

/// Negative: the runtime's choice, also of what is not spread. Throws std::invalid_argument where it is no
/// expression.
int bank_of(const ArgumentSpec& argument, int replica, const std::optional<int>& part) {
  if (argument.bank.empty() || argument.bank == "shared") return -1;
  if (argument.bank.find("part") != std::string::npos && !part) return -1;
  return static_cast<int>(evaluate(argument.bank, {{"replica", replica}, {"part", part.value_or(0)}}));
}

const ArgumentSpec& argument_of(const VariantSpec& variant, const ArgumentPlace& place) {
  for (const ArgumentSpec& argument : variant.arguments.at(variant.entry_points.at(place.entry))) {
    if (argument.name == place.argument) return argument;
  }
  throw std::logic_error(fmt::format("kernel.toml declares no argument {}", place.argument));
}

/// What an argument, or other memory, says of its length. Throws Error (bad use) naming the key of what is
/// wrong.
void read_length(const TomlReader& reader, const toml::table& table, const std::string& where,
                 ArgumentSpec& argument) {
  if (table.contains("buffers"))
    argument.buffers = to_text(reader.value(*table.get("buffers"), where + ".buffers"));
  if (!table.contains("bytes")) return;
  for (const auto& [device_class, formula] : class_values(reader, *table.get("bytes"), where + ".bytes"))
    argument.bytes[device_class] = to_text(formula);
}

ArgumentSpec read_argument(const TomlReader& reader, const toml::table& table, const std::string& where) {
  reader.only(table, {"name", "kind", "access", "bank", "bytes", "buffers", "meaning"}, where + ".");
  const auto if_there = [&](const char* name) {
    return table.contains(name) ? to_text(reader.value(*table.get(name), where + "." + name)) : "";
  };
  ArgumentSpec argument{.name = reader.text(table, "name", where + "."),
                        .kind = reader.text(table, "kind", where + "."),
                        .access = if_there("access"),
                        .bank = if_there("bank")};
  read_length(reader, table, where, argument);
  if (!argument_kind(argument.kind, false)) {
    throw reader.wrong(
        where + ".kind",
        fmt::format("one of {}, real", fmt::join(device::kArgumentKinds | std::views::keys, ", ")));
  }
  try {
    static_cast<void>(bank_of(argument, 0, 0));
  } catch (const std::invalid_argument&) {
    throw reader.wrong(where + ".bank", "shared, or an expression of replica or part, like 2 * replica + 1");
  }
  return argument;
}

/// Memory that is no argument's own: { name, bytes } and as the case may be buffers.
ArgumentSpec read_other_memory(const TomlReader& reader, const toml::table& table, const std::string& where) {
  reader.only(table, {"name", "bytes", "buffers", "meaning"}, where + ".");
  ArgumentSpec memory{.name = reader.text(table, "name", where + "."), .kind = {}, .access = {}, .bank = {}};
  read_length(reader, table, where, memory);
  if (memory.bytes.empty()) throw reader.wrong(where + ".bytes", "a formula");
  return memory;
}

template <typename Read>
std::vector<ArgumentSpec> read_list(const TomlReader& reader, const toml::node& node,
                                    const std::string& where, const char* expected, Read read) {
  if (!node.is_array()) throw reader.wrong(where, expected);
  std::vector<ArgumentSpec> found;
  for (const toml::node& one : *node.as_array()) {
    if (!one.is_table()) throw reader.wrong(where, expected);
    found.push_back(read(reader, *one.as_table(), where));
  }
  return found;
}

/// The table of arguments by entry point: lists of { name, kind, ... }.
void read_arguments(const TomlReader& reader, const toml::table& all, const std::string& variant,
                    VariantSpec& spec) {
  for (const auto& [key, list] : all) {
    const std::string entry(key.str());
    const std::string where = variant + "arguments." + entry;
    if (std::ranges::find(spec.entry_points, entry) == spec.entry_points.end())
      throw reader.wrong(where, "arguments of an entry point");
    spec.arguments[entry] = read_list(reader, list, where, "a list of { name, kind }", read_argument);
  }
}

/// Values by parameter and class of devices.
std::map<std::string, std::map<std::string, Value>> read_defaults(const TomlReader& reader,
                                                                  const toml::table& table, const char* name,
                                                                  const std::string& where) {
  std::map<std::string, std::map<std::string, Value>> found;
  for (const auto& [parameter, node] : reader.table(table, name, where)) {
    const std::string key(parameter.str());
    found[key] = class_values(reader, node, where + name + "." + key);
  }
  return found;
}

/// Lists of values by parameter and class of devices: of those alone on which a kernel is built at once.
std::map<std::string, std::map<std::string, std::vector<Value>>> read_tuned(const TomlReader& reader,
                                                                            const toml::table& table,
                                                                            const std::string& where) {
  std::map<std::string, std::map<std::string, std::vector<Value>>> found;
  for (const auto& [parameter, classes] : reader.tables(table, where)) {
    reader.only(*classes, {"cpu", "gpu"}, where + parameter + ".");
    for (const auto& [name, node] : *classes) {
      const std::string key = where + parameter + "." + std::string(name.str());
      const toml::array* const values = node.as_array();
      if (values == nullptr || values->size() < 2) throw reader.wrong(key, "a list of two values or more");
      for (const toml::node& value : *values)
        found[parameter][std::string(name.str())].push_back(reader.value(value, key));
    }
  }
  return found;
}

WorkGroupSpec read_work_group(const TomlReader& reader, const toml::table& table, const std::string& where) {
  reader.only(table, {"work_items", "local_bytes", "shrink", "on"}, where);
  WorkGroupSpec spec;
  if (table.contains("work_items")) spec.work_items = reader.text(table, "work_items", where);
  if (table.contains("local_bytes")) spec.local_bytes = reader.text(table, "local_bytes", where);
  if (spec.work_items.empty() && spec.local_bytes.empty())
    throw reader.wrong(where + "work_items", "an expression for it or for local_bytes");
  spec.shrink = read_names(reader, table, "shrink", where);
  if (table.contains("on")) spec.on = read_names(reader, table, "on", where);
  return spec;
}

std::map<std::string, std::string> read_phases(const TomlReader& reader, const toml::table& table,
                                               const std::string& where) {
  std::map<std::string, std::string> phases;
  for (const auto& [key, unused] : table) {
    const std::string name(key.str());
    phases[name] = reader.text(table, name, where);
  }
  return phases;
}

VariantSpec read_variant(const TomlReader& reader, const std::string& name, const toml::table& table) {
  const std::string where = "variants." + name + ".";
  reader.only(table,
              {"file",        "hls",      "sycl",      "entry_points", "replicated", "autorun",   "style",
               "transports",  "usual_on", "arguments", "memory",       "costs",      "phases",    "defaults",
               "over_fabric", "largest",  "lacks",     "tuned",        "tuned_at",   "work_group"},
              where);
  VariantSpec spec;
  spec.name = name;
  spec.file = reader.text(table, "file", where);
  if (table.contains("hls")) spec.hls = reader.text(table, "hls", where);
  if (table.contains("sycl")) spec.has_sycl = reader.flag(table, "sycl", where);
  if (table.contains("style")) spec.style = reader.text(table, "style", where);
  spec.entry_points = read_names(reader, table, "entry_points", where);
  if (table.contains("transports")) spec.transports = read_names(reader, table, "transports", where);
  if (table.contains("usual_on")) spec.usual_on = read_names(reader, table, "usual_on", where);
  if (table.contains("replicated")) spec.replicated = read_names(reader, table, "replicated", where);
  if (table.contains("autorun")) spec.autorun = read_names(reader, table, "autorun", where);
  for (const std::string& kernel : spec.autorun) {
    if (std::ranges::find(spec.entry_points, kernel) != spec.entry_points.end())
      throw reader.wrong(where + "autorun", "names that entry_points does not have: the host starts those");
  }
  for (const std::string& entry : spec.replicated) {
    if (std::ranges::find(spec.entry_points, entry) == spec.entry_points.end())
      throw reader.wrong(where + "replicated", "names that entry_points has");
  }
  if (table.contains("arguments"))
    read_arguments(reader, reader.table(table, "arguments", where), where, spec);
  if (table.contains("memory"))
    spec.arguments[""] = read_list(reader, *table.get("memory"), where + "memory",
                                   "a list of { name, bytes }", read_other_memory);
  if (table.contains("costs") && table["costs"].is_string()) {
    spec.costs_of = reader.text(table, "costs", where);
  } else if (table.contains("costs")) {
    read_costs(reader, reader.table(table, "costs", where), where, spec);
  }
  if (table.contains("phases"))
    spec.phases = read_phases(reader, reader.table(table, "phases", where), where + "phases.");
  if (table.contains("defaults")) spec.defaults = read_defaults(reader, table, "defaults", where);
  if (table.contains("over_fabric")) spec.over_fabric = read_defaults(reader, table, "over_fabric", where);
  if (table.contains("largest")) {
    for (const auto& [parameter, node] : reader.table(table, "largest", where)) {
      const std::string key(parameter.str());
      if (!node.is_number()) throw reader.wrong(where + "largest." + key, "a number");
      spec.largest[key] = *node.value<double>();
    }
  }
  if (table.contains("lacks")) {
    const toml::table& lacks = reader.table(table, "lacks", where);
    for (const auto& [parameter, node] : lacks) {
      const std::string key(parameter.str());
      spec.lacks[key] = read_names(reader, lacks, key, where + "lacks.");
    }
  }
  if (table.contains("tuned_at")) spec.tuned_at = read_defaults(reader, table, "tuned_at", where);
  if (table.contains("tuned"))
    spec.tuned = read_tuned(reader, reader.table(table, "tuned", where), where + "tuned.");
  if (table.contains("work_group"))
    spec.work_group =
        read_work_group(reader, reader.table(table, "work_group", where), where + "work_group.");
  return spec;
}

/// Another benchmark's folder, whose kernel.toml says what this one does not.
struct Like {
  std::string folder;                 ///< below that of all kernels; empty: there is none
  std::set<std::string> own_kernels;  ///< variants whose file is not from there
};

Like fill_in(TomlReader& reader, const fs::path& file) {
  const toml::table& root = reader.root();
  if (!root.contains("like")) return {};
  Like like{.folder = reader.text(root, "like", ""), .own_kernels = {}};
  if (const toml::table* const variants = root["variants"].as_table()) {
    for (const auto& [name, node] : *variants) {
      if (node.is_table() && node.as_table()->contains("file")) like.own_kernels.emplace(name.str());
    }
  }
  const fs::path other = file.parent_path().parent_path() / like.folder / "kernel.toml";
  reader.fill_from(TomlReader(file_text(other, "kernel description"), other));
  return like;
}

}  // namespace

bool VariantSpec::is_emulated_over(const std::string& transport) const {
  if (is_dataflow() || !over_fabric) return is_dataflow();
  const TransportSpec* const spec = find_transport(transport);
  return spec != nullptr && !spec->is_between_memories();
}

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
  const bool is_double = parameters.has("data_type") && parameters.text("data_type") == "double";
  const bool is_replicated = std::ranges::find(variant.replicated, name) != variant.replicated.end();
  device::EntryPoint entry{.name = name, .arguments = {}, .is_replicated = is_replicated};
  const auto declared = variant.arguments.find(name);
  if (declared == variant.arguments.end()) return entry;
  for (const ArgumentSpec& argument : declared->second) {
    entry.arguments.push_back({argument.name, argument_kind(argument.kind, is_double).value()});
  }
  return entry;
}

bool is_shared(const VariantSpec& variant, const ArgumentPlace& place) {
  return argument_of(variant, place).bank == "shared";
}

int bank_of(const VariantSpec& variant, const ArgumentPlace& place) {
  return bank_of(argument_of(variant, place), place.replica, place.part);
}

std::int64_t replicas_in_source(const VariantSpec& variant, const Parameters& parameters,
                                device::Replicas replicas) {
  if (replicas != device::Replicas::kEntries || variant.replicated.empty()) return 1;
  return parameters.integer(kReplications);
}

std::vector<device::EntryPoint> built_entry_points(const VariantSpec& variant, const Parameters& parameters,
                                                   device::Replicas replicas) {
  const auto count = static_cast<int>(replicas_in_source(variant, parameters, replicas));
  std::vector<device::EntryPoint> built;
  for (const std::string& name : variant.entry_points) {
    const device::EntryPoint entry = entry_point(variant, name, parameters);
    for (const std::string& own : device::replica_names(entry, replicas, count)) {
      built.push_back(entry);
      built.back().name = own;
    }
  }
  return built;
}

KernelSpec built_for(KernelSpec spec, const std::string& variant, device::Replicas replicas) {
  if (replicas == device::Replicas::kOneEntry || spec.variant(variant).replicated.empty()) return spec;
  for (ParameterSpec& parameter : spec.parameters) {
    if (parameter.name == kReplications) parameter.stage = ParameterSpec::Stage::kBuild;
  }
  return spec;
}

KernelSpec load_kernel_spec(const fs::path& file) {
  KernelSpec spec = parse_kernel_spec(file_text(file, "kernel description"), file);
  spec.folder = file.parent_path();
  return spec;
}

KernelSpec parse_kernel_spec(const std::string& text, const fs::path& file) {
  TomlReader reader(text, file);
  const toml::table& root = reader.root();
  reader.only(
      root, {"benchmark", "summary", "like", "given", "quantities", "variants", "parameters", "constraints"},
      "");
  const Like like = fill_in(reader, file);
  KernelSpec spec;
  spec.benchmark = reader.text(root, "benchmark", "");
  spec.summary = reader.text(root, "summary", "");
  for (const auto& [name, table] : reader.tables(reader.table(root, "variants", ""), "variants.")) {
    spec.variants.push_back(read_variant(reader, name, *table));
  }
  for (VariantSpec& variant : spec.variants) {
    // The kernels of the other one, which include what is in this folder.
    if (!like.folder.empty() && !like.own_kernels.contains(variant.name))
      variant.file = (fs::path("..") / like.folder / variant.file).string();
    if (variant.costs_of.empty()) continue;
    const auto other = std::ranges::find(spec.variants, variant.costs_of, &VariantSpec::name);
    if (other == spec.variants.end() || !other->costs_of.empty())
      throw reader.wrong("variants." + variant.name + ".costs", "costs, or a variant that has some");
    variant.costs = other->costs;
  }
  if (spec.variants.empty()) throw reader.wrong("variants", "at least [variants.base]");
  if (root.contains("parameters")) read_parameters(reader, reader.table(root, "parameters", ""), spec);
  for (const VariantSpec& variant : spec.variants) {
    const ParameterSpec* count = spec.find(kReplications);
    if (variant.replicated.empty() || (count != nullptr && count->type == ParameterSpec::Type::kInteger))
      continue;
    throw reader.wrong(fmt::format("parameters.{}", kReplications), "an int: how many replicas there are");
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
  read_given(reader, spec);
  Quantities(reader, spec).write_out(spec);
  note_given(spec);
  check_kernel_spec(spec, file);
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

}  // namespace fabricmark::runtime
