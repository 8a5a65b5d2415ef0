#include "fabric/network_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::fabric {

namespace {

using Json = nlohmann::json;

/// An exported system with the numbers of its parts.
class ExportedSystem : public runtime::SystemDocument {
 public:
  using SystemDocument::SystemDocument;

  /// A value of `values`: {value, kind}; none where it is not there.
  [[nodiscard]] std::optional<double> value(const Json& values, const std::string& key,
                                            const std::string& where) const {
    const Json* entry = find(values, key);
    if (entry == nullptr) return std::nullopt;
    const Json* number = find(*entry, "value");
    if (number == nullptr || !number->is_number()) throw wrong(where + key + ".value");
    const auto found = number->get<double>();
    if (!(found >= 0) || std::isinf(found)) throw wrong(where + key + ".value");
    return found;
  }
  /// The same as a whole number up to `most`; 0 where it is not there.
  [[nodiscard]] std::uint64_t count(const Json& values, const std::string& key, const std::string& where,
                                    double most) const {
    const double found = value(values, key, where).value_or(0);
    if (found != std::floor(found) || found > most) throw wrong(where + key + ".value");
    return static_cast<std::uint64_t>(found);
  }
};

constexpr double kMostCount = std::numeric_limits<int>::max();
constexpr double kMostBytes = static_cast<double>(std::uint64_t{1} << 46U);

/// What a name stands for.
struct Named {
  std::string id;        ///< of a network: that of a transport, or the name itself
  std::size_t kind = 0;  ///< of the devices whose transport it is
};

Named named(const ExportedSystem& system, const std::string& name) {
  const Json& kinds = system.list("topology");
  if (kinds.empty()) throw system.wrong("topology");
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const std::string where = fmt::format("topology[{}].networks", kind);
    const Json* transports = ExportedSystem::find(kinds[kind], "networks");
    if (transports == nullptr || !transports->is_object()) throw system.wrong(where);
    if (name.empty() || ExportedSystem::find(*transports, name) == nullptr) continue;
    return {system.text(*transports, name, where + "."), kind};
  }
  return {name, 0};
}

std::size_t network_place(const ExportedSystem& system, const std::string& name, const std::string& id) {
  const Json& networks = system.list("networks");
  std::vector<std::string> known;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    known.push_back(system.text(networks[i], "id", fmt::format("networks[{}].", i)));
    if (known.back() == id) return i;
  }
  if (known.empty())
    throw bad_use(fmt::format("'{}' has no network", system.file()), "use a system that has one");
  if (!id.empty()) {
    throw bad_use(fmt::format("'{}' has no network '{}'", system.file(), name),
                  fmt::format("use one of {}", fmt::join(known, ", ")));
  }
  if (known.size() > 1) {
    throw bad_use(fmt::format("'{}' has several networks", system.file()),
                  fmt::format("choose one of {}", fmt::join(known, ", ")));
  }
  return 0;
}

/// What the devices say themselves of ports and calls. A kernel's start is the host's, whatever the network;
/// a copy is the engine's, so that the device's stands in only where no network says it.
void take_device(const ExportedSystem& system, std::size_t kind, NetworkCosts& found) {
  const Json& devices = system.list("devices");
  if (devices.size() <= kind) throw system.wrong(kind == 0 ? "devices" : fmt::format("devices[{}]", kind));
  const std::string where = fmt::format("devices[{}].values", kind);
  const Json* values = ExportedSystem::find(devices[kind], "values");
  if (values == nullptr) throw system.wrong(where);
  const auto number = [&](const char* key) { return system.value(*values, key, where + ".").value_or(0); };
  const auto own_or = [](double first, double second) { return first > 0 ? first : second; };
  found.board_ports = static_cast<int>(system.count(*values, "serial_ports", where + ".", kMostCount));
  found.host_start_seconds = own_or(number("invocation_seconds"), found.host_start_seconds);
  found.copy_seconds = own_or(found.copy_seconds, number("copy_seconds"));
  found.copy_bytes_per_second = own_or(found.copy_bytes_per_second, number("copy_bytes_per_second"));
}

}  // namespace

double NetworkCosts::wire_bytes_per_second() const {
  if (frame_bytes == 0) return link_bytes_per_second;
  const auto frame = static_cast<double>(frame_bytes);
  return link_bytes_per_second * (frame + static_cast<double>(header_bytes)) / frame;
}

namespace {

NetworkCosts costs_of(const ExportedSystem& system, const std::string& name) {
  const auto [id, kind] = named(system, name);
  const std::size_t place = network_place(system, name, id);
  const std::string where = fmt::format("networks[{}].", place);
  const Json& network = system.list("networks")[place];
  const Json* values = ExportedSystem::find(network, "values");
  if (values == nullptr || !values->is_object()) throw system.wrong(where + "values");
  const std::string inside = where + "values.";
  const auto number = [&](const char* key) { return system.value(*values, key, inside); };
  const auto count = [&](const char* key, double most) { return system.count(*values, key, inside, most); };
  NetworkCosts found;
  found.id = system.text(network, "id", where);
  found.kind = system.text(network, "kind", where);
  if (ExportedSystem::find(network, "topology") != nullptr)
    found.topology = system.text(network, "topology", where);
  found.latency_seconds = number("latency_seconds").value_or(0);
  found.start_seconds = number("start_seconds").value_or(0);
  found.switch_seconds = number("switch_seconds").value_or(0);
  found.node_seconds = number("node_seconds");
  found.cable_seconds = number("cable_seconds");
  found.width_bytes = count("width_bytes", kMostBytes);
  found.clock_hz = number("clock_hz").value_or(0);
  // Where kernels write to a link each cycle, that is its rate: as the closed forms have it.
  const double written = static_cast<double>(found.width_bytes) * found.clock_hz;
  found.link_bytes_per_second = written > 0 ? written : number("link_bytes_per_second").value_or(0);
  if (!(found.link_bytes_per_second > 0)) throw system.wrong(inside + "link_bytes_per_second");
  found.links = static_cast<int>(std::max<std::uint64_t>(1, count("links", kMostCount)));
  found.frame_bytes = count("frame_bytes", kMostBytes);
  found.header_bytes = count("frame_overhead_bytes", kMostBytes);
  found.line_bytes_per_second = number("line_bytes_per_second").value_or(0);
  found.ping_seconds = number("ping_seconds").value_or(0);
  found.host_start_seconds = number("host_start_seconds").value_or(0);
  found.copy_seconds = number("copy_seconds").value_or(0);
  found.copy_bytes_per_second = number("copy_bytes_per_second").value_or(0);
  take_device(system, kind, found);
  return found;
}

}  // namespace

NetworkCosts load_network_costs(const std::filesystem::path& file, const std::string& name) {
  return costs_of(ExportedSystem(file), name);
}

NetworkCosts read_network_costs(const std::string& json, const std::string& origin, const std::string& name) {
  return costs_of(ExportedSystem(json, origin), name);
}

PacketCosts packet_costs(const NetworkCosts& network, Forwarding forwarding) {
  return {.node_latency = from_seconds(network.device_seconds()),
          .cable_latency = from_seconds(network.one_cable_seconds()),
          .switch_latency = from_seconds(network.switch_seconds),
          .bytes_per_second = network.wire_bytes_per_second(),
          .header_bytes = network.header_bytes,
          .mtu_bytes = network.frame_bytes,
          .forwarding = forwarding};
}

}  // namespace fabricmark::fabric
