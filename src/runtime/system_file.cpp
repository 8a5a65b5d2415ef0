// Reading systems that `fabricmark systems export` wrote; the schema is python/fabricmark/schemas/.
#include "runtime/system_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/error.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::runtime {

namespace {

namespace fs = std::filesystem;
using Json = JsonPlace::Json;

struct Entry {
  explicit Entry(const JsonPlace& said)
      : id(said.text("id")),
        device(said.text("device")),
        variant(said.text("variant")),
        transport(said.text("transport")),
        place(said) {}
  std::string id;
  std::string device;
  std::string variant;
  std::string transport;
  JsonPlace place;
};

/// The bitstreams of a benchmark, in the order of the file.
std::vector<Entry> bitstreams_of(const JsonPlace& system, const std::string& benchmark) {
  std::vector<Entry> found;
  for (const JsonPlace& one : system.list("bitstreams")) {
    if (one.text("benchmark") == benchmark) found.emplace_back(one);
  }
  return found;
}

std::string ids(const std::vector<Entry>& entries) {
  return fmt::format("{}", fmt::join(entries | std::views::transform(&Entry::id), ", "));
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

/// The value of a bitstream's or a device's number; none where it has none.
std::optional<JsonPlace> value_of(const JsonPlace& parent, const std::string& name) {
  const std::optional<JsonPlace> found = parent.at("values").find(name);
  if (!found) return std::nullopt;
  return found->at("value", &Json::is_number);
}

/// How many banks hold a matrix: a value of the bitstream, and a parameter of some benchmarks.
constexpr const char* kMatrixBanks = "matrix_banks";

/// The parameters of a bitstream, its transport among them where the benchmark has that choice.
std::map<std::string, Value> parameters_of(const Entry& entry, const KernelSpec& spec) {
  std::map<std::string, Value> found;
  if (entry.transport != "none" && spec.find("transport") != nullptr) found["transport"] = entry.transport;
  for (const auto& [name, said] : entry.place.items("parameters")) found[name] = said.value();
  // A design may have been made for fewer banks than there are.
  if (const auto banks = value_of(entry.place, kMatrixBanks)) found.emplace(kMatrixBanks, banks->value());
  if (spec.find(kMatrixBanks) == nullptr) found.erase(kMatrixBanks);
  return found;
}

/// What a system says of a bitstream beside its parameters.
Design design_of(const Entry& entry) {
  Design found{.board = entry.device, .bitstream = entry.id};
  if (entry.place.find("tools")) found.tools = entry.place.text("tools");
  if (entry.place.find("shell")) found.shell = entry.place.text("shell");
  if (const auto clock = value_of(entry.place, "kernel_hz")) found.clock_hz = clock->json().get<double>();
  if (!entry.place.find("resources")) return found;
  for (const auto& [name, number] : entry.place.items("resources")) {
    if (!number.json().is_number_integer()) throw number.wrong();
    found.resources[name] = number.json().get<std::int64_t>();
  }
  return found;
}

std::int64_t banks_of(const JsonPlace& device) {
  const JsonPlace number = device.at("values").at("banks").at("value", &Json::is_number);
  const Value banks = number.value();
  const auto* whole = std::get_if<std::int64_t>(&banks);
  if (whole == nullptr || *whole < 1) throw number.wrong();
  return *whole;
}

/// Texts that a file may have, by what they mean here.
template <typename Meaning>
Meaning meaning_of(const JsonPlace& parent, const char* name, const std::map<std::string, Meaning>& known) {
  if (!parent.find(name)) return {};
  const auto found = known.find(parent.text(name));
  if (found == known.end()) throw parent.wrong(name);
  return found->second;
}

/// Of a device with so many banks.
device::BoardMemory memory_of(const JsonPlace& device, std::int64_t banks) {
  using device::BoardMemory;
  BoardMemory found{.banks = static_cast<int>(banks)};
  if (const auto bytes = value_of(device, "memory_bytes"))
    found.bank_bytes = static_cast<std::uint64_t>(bytes->json().get<double>() / static_cast<double>(banks));
  if (!device.find("memory")) return found;
  const JsonPlace memory = device.at("memory");
  found.kind = meaning_of(memory, "kind", device::memory_kinds());
  found.choice = meaning_of(memory, "placement", device::memory_choices());
  if (const auto offset = memory.find("index_offset")) {
    constexpr std::int64_t kMost = 1 << 20;
    const Json& number = offset->json();
    if (!number.is_number_integer() || number < 0 || number > kMost) throw offset->wrong();
    found.index_offset = number.get<int>();
  }
  return found;
}

bool has_device(const JsonPlace& system, const std::string& id) {
  return std::ranges::any_of(system.list("devices"), [&](const JsonPlace& device) {
    const auto own = device.find("id");
    return own && own->json() == id;
  });
}

/// The first kind of device that has the transport; empty where none has, or nothing is said of them.
std::string device_with(const JsonPlace& system, const std::string& transport) {
  for (const JsonPlace& kind : system.list_if_any("topology")) {
    const auto networks = kind.find("networks");
    if (networks && networks->find(transport)) return kind.text("device");
  }
  return {};
}

/// Of a kind; empty where nothing is said of it, as of a board by itself.
std::optional<std::int64_t> most_devices(const JsonPlace& system, const std::string& device) {
  for (const JsonPlace& kind : system.list_if_any("topology")) {
    if (kind.text("device") == device)
      return kind.at("most_devices", &Json::is_number_integer).json().get<std::int64_t>();
  }
  return std::nullopt;
}

void check_most(const JsonPlace& system, const std::string& device, int ranks) {
  const std::optional<std::int64_t> most = most_devices(system, device);
  if (!most || *most >= ranks) return;
  throw bad_use(fmt::format("'{}' has {} devices of the kind {}, not one for each of {} ranks", system.file(),
                            *most, device, ranks),
                fmt::format("give at most {} ranks, or a system with more boards", *most));
}

}  // namespace

void check_devices(const fs::path& file, const std::string& device, int ranks) {
  const SystemDocument document(file);
  check_most(document.root(), device, ranks);
}

void check_devices_with(const fs::path& file, const std::string& transport, int ranks) {
  const SystemDocument document(file);
  check_most(document.root(), device_with(document.root(), transport), ranks);
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
  const JsonPlace system = document.root();
  SystemChoice found;
  found.system = system.text("name");
  found.overrides.origin = file.string();
  if (const auto entry = choose(bitstreams_of(system, spec.benchmark), file, spec, choice)) {
    found.bitstream = entry->id;
    found.device = entry->device;
    found.overrides.variant = entry->variant;
    found.overrides.parameters = parameters_of(*entry, spec);
    found.overrides.design = design_of(*entry);
    found.overrides.origin += ": " + entry->id;
  } else if (has_device(system, choice.board)) {
    found.device = choice.board;
  } else if (!choice.transport.empty()) {
    found.device = device_with(system, choice.transport);
  }
  for (const JsonPlace& one : system.list("devices")) {
    const std::string device = one.text("id");
    if (!found.device.empty() && device != found.device) continue;
    found.device = device;
    const std::int64_t banks = banks_of(one);
    found.overrides.banks = banks;
    found.overrides.memory = memory_of(one, banks);
    found.overrides.design.board = device;
    return found;
  }
  throw system.wrong(found.device.empty() ? "devices" : "devices: the board " + found.device);
}

}  // namespace fabricmark::runtime
