#include "network/network_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::network {

namespace {

using runtime::JsonPlace;
using Json = JsonPlace::Json;

/// A value of `values`: {value, kind}; none where it is not there.
std::optional<double> value_of(const JsonPlace& values, const std::string& key) {
  const std::optional<JsonPlace> entry = values.find(key);
  if (!entry) return std::nullopt;
  return entry->at("value", &Json::is_number).number();
}

/// The same, of a whole number.
std::optional<double> count_of(const JsonPlace& values, const std::string& key) {
  const std::optional<double> found = value_of(values, key);
  if (found && (*found != std::floor(*found) || *found > NetworkValue::kMostCount))
    throw values.wrong(key + ".value");
  return found;
}

template <auto Field>
void set(NetworkCosts& costs, double value) {
  using Type = std::remove_reference_t<decltype(costs.*Field)>;
  if constexpr (std::is_same_v<Type, std::optional<double>>) {
    costs.*Field = value;
  } else {
    costs.*Field = static_cast<Type>(value);
  }
}

template <auto Field>
void set_flow(NetworkCosts& costs, double value) {
  costs.flow.*Field = static_cast<std::size_t>(value);
}

constexpr NetworkValue kNetworkValues[] = {
    {"latency_seconds", false, set<&NetworkCosts::latency_seconds>},
    {"start_seconds", false, set<&NetworkCosts::start_seconds>},
    {"switch_seconds", false, set<&NetworkCosts::switch_seconds>},
    {"node_seconds", false, set<&NetworkCosts::node_seconds>},
    {"cable_seconds", false, set<&NetworkCosts::cable_seconds>},
    {"width_bytes", true, set<&NetworkCosts::width_bytes>},
    {"clock_hz", false, set<&NetworkCosts::clock_hz>},
    {"link_bytes_per_second", false, set<&NetworkCosts::link_bytes_per_second>},
    {"links", true, set<&NetworkCosts::links>},
    {"frame_bytes", true, set<&NetworkCosts::frame_bytes>},
    {"frame_overhead_bytes", true, set<&NetworkCosts::header_bytes>},
    {"line_bytes_per_second", false, set<&NetworkCosts::line_bytes_per_second>},
    {"ping_seconds", false, set<&NetworkCosts::ping_seconds>},
    {"host_start_seconds", false, set<&NetworkCosts::host_start_seconds>},
    {"copy_seconds", false, set<&NetworkCosts::copy_seconds>},
    {"copy_bytes_per_second", false, set<&NetworkCosts::copy_bytes_per_second>},
    {"flow_packet_flits", true, set_flow<&FlowSettings::OfCreditLink::packet>},
    {"flow_receive_flits", true, set_flow<&FlowSettings::OfCreditLink::receive>},
    {"flow_update_flits", true, set_flow<&FlowSettings::OfCreditLink::update>},
    {"flow_overhead_flits", true, set_flow<&FlowSettings::OfCreditLink::overhead>},
};

/// What a name stands for.
struct Named {
  std::string id;        ///< of a network: that of a transport, or the name itself
  std::size_t kind = 0;  ///< of the devices whose transport it is
};

Named named(const JsonPlace& system, const std::string& name) {
  const std::vector<JsonPlace> kinds = system.list("topology");
  if (kinds.empty()) throw system.wrong("topology");
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const JsonPlace transports = kinds[kind].at("networks");
    if (!name.empty() && transports.find(name)) return {transports.text(name), kind};
  }
  return {name, 0};
}

JsonPlace network_place(const JsonPlace& system, const std::string& name, const std::string& id) {
  const std::vector<JsonPlace> networks = system.list("networks");
  std::vector<std::string> known;
  for (const JsonPlace& one : networks) {
    known.push_back(one.text("id"));
    if (known.back() == id) return one;
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
  return networks.front();
}

/// What the devices say themselves of ports and calls. A kernel's start is the host's, whatever the network;
/// a copy is the engine's, so that the device's stands in only where no network says it.
void take_device(const JsonPlace& system, std::size_t kind, NetworkCosts& found) {
  const std::vector<JsonPlace> devices = system.list("devices");
  if (devices.size() <= kind) throw system.wrong(kind == 0 ? "devices" : fmt::format("devices[{}]", kind));
  const JsonPlace values = devices[kind].at("values");
  const auto number = [&](const char* key) { return value_of(values, key).value_or(0); };
  const auto own_or = [](double first, double second) { return first > 0 ? first : second; };
  found.board_ports = static_cast<int>(count_of(values, "serial_ports").value_or(0));
  found.host_start_seconds = own_or(number("invocation_seconds"), found.host_start_seconds);
  found.copy_seconds = own_or(found.copy_seconds, number("copy_seconds"));
  found.copy_bytes_per_second = own_or(found.copy_bytes_per_second, number("copy_bytes_per_second"));
}

}  // namespace

std::span<const NetworkValue> network_values() { return kNetworkValues; }

double NetworkCosts::wire_bytes_per_second() const {
  if (frame_bytes == 0) return link_bytes_per_second;
  const auto frame = static_cast<double>(frame_bytes);
  return link_bytes_per_second * (frame + static_cast<double>(header_bytes)) / frame;
}

namespace {

NetworkCosts costs_of(const runtime::SystemDocument& document, const std::string& name) {
  const JsonPlace system = document.root();
  const auto [id, kind] = named(system, name);
  const JsonPlace network = network_place(system, name, id);
  const JsonPlace values = network.at("values");
  NetworkCosts found;
  found.id = network.text("id");
  found.kind = network.text("kind");
  if (network.find("topology")) found.topology = network.text("topology");
  for (const NetworkValue& one : network_values()) {
    const std::string key(one.name);
    const auto said = one.is_count ? count_of(values, key) : value_of(values, key);
    if (said) one.set(found, *said);
  }
  found.links = std::max(found.links, 1);
  if (!(found.link_bytes_per_second > 0)) throw values.wrong("link_bytes_per_second");
  take_device(system, kind, found);
  return found;
}

}  // namespace

NetworkCosts load_network_costs(const std::filesystem::path& file, const std::string& name) {
  return costs_of(runtime::SystemDocument(file), name);
}

NetworkCosts read_network_costs(const std::string& json, const std::string& origin, const std::string& name) {
  return costs_of(runtime::SystemDocument(json, origin), name);
}

double link_cycles(std::size_t word_bytes, double width_bytes) {
  return std::max(std::ceil(static_cast<double>(word_bytes) / width_bytes), 1.0);
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

}  // namespace fabricmark::network
