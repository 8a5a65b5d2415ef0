// Reading systems that `fabricmark systems export` wrote; the schema is python/fabricmark/schemas/.
#include "runtime/system_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::runtime {

namespace {

namespace fs = std::filesystem;
using Json = SystemDocument::Json;

struct Entry {
  std::string id;
  std::string device;
  std::string variant;
  std::string transport;
  std::string where;  ///< for messages
  const Json* json = nullptr;
};

/// The bitstreams of a benchmark, in the order of the file.
std::vector<Entry> bitstreams_of(const SystemDocument& document, const std::string& benchmark) {
  std::vector<Entry> found;
  const Json& all = document.list("bitstreams");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string where = fmt::format("bitstreams[{}].", i);
    if (document.text(all[i], "benchmark", where) != benchmark) continue;
    found.push_back({document.text(all[i], "id", where), document.text(all[i], "device", where),
                     document.text(all[i], "variant", where), document.text(all[i], "transport", where),
                     where, &all[i]});
  }
  return found;
}

std::string ids(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  std::ranges::transform(entries, std::back_inserter(names), &Entry::id);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Of several designs of one file, that with the benchmark's own name; null where there is none, or another
/// file has one, too.
const Entry* usual(const std::vector<Entry>& entries, const std::string& benchmark) {
  const auto file_of = [](const Entry& entry) { return entry.id.substr(0, entry.id.find('/') + 1); };
  const std::string file = file_of(entries.front());
  const auto is_elsewhere = [&](const Entry& entry) { return file_of(entry) != file; };
  const auto found = std::ranges::find(entries, file + benchmark, &Entry::id);
  return found == entries.end() || std::ranges::any_of(entries, is_elsewhere) ? nullptr : &*found;
}

std::optional<Entry> choose(std::vector<Entry> entries, const fs::path& file, const KernelSpec& spec,
                            const BitstreamChoice& choice) {
  if (const std::string& id = choice.id; !id.empty()) {
    const auto found = std::ranges::find(entries, id, &Entry::id);
    if (found != entries.end()) return *found;
    throw bad_use(fmt::format("'{}' has no bitstream '{}' of {}", file.string(), id, spec.benchmark),
                  entries.empty() ? "leave out --bitstream-id: it has none of this benchmark"
                                  : "use --bitstream-id with one of " + ids(entries));
  }
  std::erase_if(entries, [&](const Entry& entry) {
    if (!choice.board.empty() && entry.device != choice.board) return true;
    if (!choice.transport.empty()) return entry.transport != choice.transport;
    const auto known = std::ranges::find(spec.variants, entry.variant, &VariantSpec::name);
    if (known == spec.variants.end()) return true;
    // Kernels that talk to those of other devices run where somebody asks for them.
    return choice.variant.empty() ? !known->transports.empty() : entry.variant != choice.variant;
  });
  if (entries.size() > 1) {
    if (const Entry* const found = usual(entries, spec.benchmark)) return *found;
    throw bad_use(fmt::format("'{}' has several bitstreams of {}", file.string(), spec.benchmark),
                  "choose with --bitstream-id one of " + ids(entries));
  }
  return entries.empty() ? std::nullopt : std::optional<Entry>(entries.front());
}

/// The value of a bitstream's or a device's number; null where it has none.
const Json* value_of(const SystemDocument& document, const Json& parent, const std::string& name,
                     const std::string& where) {
  const Json& values = document.member(parent, "values", &Json::is_object, where);
  const Json* const found = SystemDocument::find(values, name);
  if (found == nullptr) return nullptr;
  return &document.member(*found, "value", &Json::is_number, fmt::format("{}values.{}.", where, name));
}

/// How many banks hold a matrix: a value of the bitstream, and a parameter of some benchmarks.
constexpr const char* kMatrixBanks = "matrix_banks";

/// The parameters of a bitstream, its transport among them where the benchmark has that choice.
std::map<std::string, Value> parameters_of(const SystemDocument& document, const Entry& entry,
                                           const KernelSpec& spec) {
  std::map<std::string, Value> found;
  const std::string transport = document.text(*entry.json, "transport", entry.where);
  if (transport != "none" && spec.find("transport") != nullptr) found["transport"] = transport;
  const std::string where = entry.where + "parameters.";
  for (const auto& [name, value] :
       document.member(*entry.json, "parameters", &Json::is_object, entry.where).items()) {
    found[name] = document.value(value, where + name);
  }
  // A design may have been made for fewer banks than there are.
  if (const Json* const banks = value_of(document, *entry.json, kMatrixBanks, entry.where))
    found.emplace(kMatrixBanks, document.value(*banks, entry.where + "values." + kMatrixBanks));
  if (spec.find(kMatrixBanks) == nullptr) found.erase(kMatrixBanks);
  return found;
}

/// What a system says of a bitstream beside its parameters.
Design design_of(const SystemDocument& document, const Entry& entry) {
  Design found{.board = entry.device, .bitstream = entry.id};
  const auto text = [&](const char* name) {
    return SystemDocument::find(*entry.json, name) == nullptr ? std::string()
                                                              : document.text(*entry.json, name, entry.where);
  };
  found.tools = text("tools");
  found.shell = text("shell");
  if (const Json* const clock = value_of(document, *entry.json, "kernel_hz", entry.where))
    found.clock_hz = clock->get<double>();
  const Json* const resources = SystemDocument::find(*entry.json, "resources");
  if (resources == nullptr) return found;
  const std::string where = entry.where + "resources";
  if (!resources->is_object()) throw document.wrong(where);
  for (const auto& [name, number] : resources->items()) {
    if (!number.is_number_integer()) throw document.wrong(where + "." + name);
    found.resources[name] = number.get<std::int64_t>();
  }
  return found;
}

std::int64_t banks_of(const SystemDocument& document, const Json& device, const std::string& where) {
  const Json& values = document.member(device, "values", &Json::is_object, where);
  const Json& banks = document.member(values, "banks", &Json::is_object, where + "values.");
  const std::string place = where + "values.banks.";
  const Value number =
      document.value(document.member(banks, "value", &Json::is_number, place), place + "value");
  const auto* whole = std::get_if<std::int64_t>(&number);
  if (whole == nullptr || *whole < 1) throw document.wrong(place + "value");
  return *whole;
}

/// Texts that a file may have, by what they mean here.
template <typename Meaning>
Meaning meaning_of(const SystemDocument& document, const Json& parent, const char* name,
                   const std::string& where, const std::map<std::string, Meaning>& known) {
  if (SystemDocument::find(parent, name) == nullptr) return {};
  const auto found = known.find(document.text(parent, name, where));
  if (found == known.end()) throw document.wrong(where + name);
  return found->second;
}

/// Of a device with so many banks.
device::BoardMemory memory_of(const SystemDocument& document, const Json& device, const std::string& where,
                              std::int64_t banks) {
  using device::BoardMemory;
  BoardMemory found{.banks = static_cast<int>(banks)};
  if (const Json* const bytes = value_of(document, device, "memory_bytes", where))
    found.bank_bytes = static_cast<std::uint64_t>(bytes->get<double>() / static_cast<double>(banks));
  if (SystemDocument::find(device, "memory") == nullptr) return found;
  const Json& memory = document.member(device, "memory", &Json::is_object, where);
  const std::string place = where + "memory.";
  found.kind = meaning_of(document, memory, "kind", place, device::memory_kinds());
  found.choice = meaning_of(document, memory, "placement", place, device::memory_choices());
  if (const Json* const offset = SystemDocument::find(memory, "index_offset")) {
    constexpr std::int64_t kMost = 1 << 20;
    if (!offset->is_number_integer() || *offset < 0 || *offset > kMost)
      throw document.wrong(place + "index_offset");
    found.index_offset = offset->get<int>();
  }
  return found;
}

bool has_device(const SystemDocument& document, const std::string& id) {
  const Json& devices = document.list("devices");
  return std::ranges::any_of(devices, [&](const Json& device) {
    const Json* const own = SystemDocument::find(device, "id");
    return own != nullptr && *own == id;
  });
}

/// The first kind of device that has the transport; empty where none has, or nothing is said of them.
std::string device_with(const SystemDocument& document, const std::string& transport) {
  const Json* const kinds = SystemDocument::find(document.root(), "topology");
  for (std::size_t kind = 0; kinds != nullptr && kind < kinds->size(); ++kind) {
    const Json* const networks = SystemDocument::find((*kinds)[kind], "networks");
    if (networks == nullptr || SystemDocument::find(*networks, transport) == nullptr) continue;
    return document.text((*kinds)[kind], "device", fmt::format("topology[{}].", kind));
  }
  return {};
}

/// Of a kind; empty where nothing is said of it, as of a board by itself.
std::optional<std::int64_t> most_devices(const SystemDocument& document, const std::string& device) {
  const Json* const kinds = SystemDocument::find(document.root(), "topology");
  for (std::size_t kind = 0; kinds != nullptr && kind < kinds->size(); ++kind) {
    const std::string where = fmt::format("topology[{}].", kind);
    if (document.text((*kinds)[kind], "device", where) != device) continue;
    const Json& most = document.member((*kinds)[kind], "most_devices", &Json::is_number_integer, where);
    return most.get<std::int64_t>();
  }
  return std::nullopt;
}

void check_most(const SystemDocument& document, const std::string& device, int ranks) {
  const std::optional<std::int64_t> most = most_devices(document, device);
  if (!most || *most >= ranks) return;
  throw bad_use(fmt::format("'{}' has {} devices of the kind {}, not one for each of {} ranks",
                            document.file(), *most, device, ranks),
                fmt::format("give at most {} ranks, or a system with more boards", *most));
}

}  // namespace

void check_devices(const fs::path& file, const std::string& device, int ranks) {
  check_most(SystemDocument(file), device, ranks);
}

void check_devices_with(const fs::path& file, const std::string& transport, int ranks) {
  const SystemDocument document(file);
  check_most(document, device_with(document, transport), ranks);
}

std::string SystemChoice::note() const {
  return fmt::format("system {}: {}, {}", system, device,
                     bitstream.empty() ? "no bitstream of this benchmark" : "bitstream " + bitstream);
}

void require_same_design(const Overrides& sidecar, const SystemChoice& system) {
  const Design& loaded = sidecar.design;
  if (!loaded.board.empty() && loaded.board != system.device) {
    throw bad_use(fmt::format("the bitstream is for the board {} ('{}'), not for {} of the system {}",
                              loaded.board, sidecar.origin, system.device, system.system),
                  "name a system with that board, or a bitstream for this one");
  }
  if (!loaded.bitstream.empty() && !system.bitstream.empty() && loaded.bitstream != system.bitstream) {
    throw bad_use(fmt::format("the bitstream is {} ('{}'), and the system's is {}", loaded.bitstream,
                              sidecar.origin, system.bitstream),
                  fmt::format("give --bitstream-id {}", loaded.bitstream));
  }
}

void require_same_build(const KernelSpec& spec, const Overrides& sidecar, const Overrides& system) {
  for (const auto& [name, value] : system.parameters) {
    const ParameterSpec* const parameter = spec.find(name);
    const auto built = sidecar.parameters.find(name);
    if (parameter == nullptr || parameter->stage != ParameterSpec::Stage::kBuild ||
        built == sidecar.parameters.end() || built->second == value)
      continue;
    throw bad_use(fmt::format("the bitstream was built with {} = {} ('{}') but {} has {}", name,
                              to_text(built->second), sidecar.origin, system.origin, to_text(value)),
                  "leave out --bitstream-id, or give the bitstream that it names");
  }
}

SystemChoice load_system(const fs::path& file, const KernelSpec& spec, const BitstreamChoice& choice) {
  const SystemDocument document(file);
  SystemChoice found;
  found.system = document.text(document.root(), "name", "");
  found.overrides.origin = file.string();
  if (const auto entry = choose(bitstreams_of(document, spec.benchmark), file, spec, choice)) {
    found.bitstream = entry->id;
    found.device = entry->device;
    found.overrides.variant = entry->variant;
    found.overrides.parameters = parameters_of(document, *entry, spec);
    found.overrides.design = design_of(document, *entry);
    found.overrides.origin += ": " + entry->id;
  } else if (has_device(document, choice.board)) {
    found.device = choice.board;
  } else if (!choice.transport.empty()) {
    found.device = device_with(document, choice.transport);
  }
  const Json& devices = document.list("devices");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string where = fmt::format("devices[{}].", i);
    const std::string device = document.text(devices[i], "id", where);
    if (!found.device.empty() && device != found.device) continue;
    found.device = device;
    const std::int64_t banks = banks_of(document, devices[i], where);
    found.overrides.banks = banks;
    found.overrides.memory = memory_of(document, devices[i], where, banks);
    found.overrides.design.board = device;
    return found;
  }
  throw document.wrong(found.device.empty() ? "devices" : "devices: the board " + found.device);
}

}  // namespace fabricmark::runtime
