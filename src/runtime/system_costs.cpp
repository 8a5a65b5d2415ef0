#include "runtime/system_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::runtime {

namespace {

using Json = SystemDocument::Json;
using Values = std::map<std::string, double>;

constexpr double kNeighbours = 2;  // of a rank in a ring

std::optional<double> find_in(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

double inverse(const std::optional<double>& rate) { return rate ? 1 / *rate : 0; }

/// Between measured sizes along a line of both logarithms; below the smallest as that one, above the largest
/// at its rate.
double interpolated(const HostNetwork::Curve& curve, double bytes) {
  const std::vector<double>& known = curve.message_bytes;
  if (bytes <= known.front()) return curve.seconds.front();
  if (bytes >= known.back()) return curve.seconds.back() * (bytes / known.back());
  const auto above = static_cast<std::size_t>(std::ranges::upper_bound(known, bytes) - known.begin());
  const double low = std::log(std::max(known[above - 1], 1.0));
  const double along = (std::log(bytes) - low) / (std::log(known[above]) - low);
  const double start = std::log(curve.seconds[above - 1]);
  return std::exp(start + along * (std::log(curve.seconds[above]) - start));
}

/// How far a run is from one that was measured, the first number counting most.
auto distance(const HostNetwork::Curve& curve, double devices, double nodes) {
  const auto apart = [](double one, double other) { return std::abs(std::log2(one / other)); };
  return std::tuple((curve.nodes == 1) != (nodes == 1), apart(curve.devices / curve.nodes * nodes, devices),
                    apart(curve.nodes, nodes), apart(curve.devices, devices));
}

/// Devices of a system to a node, and its networks by transport.
struct Wiring {
  int devices_per_node = 1;
  std::map<std::string, std::string> networks;
};

}  // namespace

/// What the file says, with messages that name the place.
struct SystemCosts::Reader {
  SystemDocument document;

  [[nodiscard]] double number(const Json& json, const std::string& where) const {
    if (!json.is_number()) throw document.wrong(where);
    const double found = json.get<double>();
    if (!std::isfinite(found) || found < 0) throw document.wrong(where);
    return found;
  }
  [[nodiscard]] std::vector<double> numbers(const Json& parent, const std::string& key,
                                            const std::string& where) const {
    std::vector<double> found;
    for (const Json& one : document.member(parent, key, &Json::is_array, where))
      found.push_back(number(one, where + key));
    return found;
  }
  [[nodiscard]] Values values(const Json& parent, const std::string& where) const {
    Values found;
    for (const auto& [name, entry] : document.member(parent, "values", &Json::is_object, where).items()) {
      const std::string place = where + "values." + name + ".";
      found[name] = number(document.member(entry, "value", &Json::is_number, place), place + "value");
    }
    return found;
  }
  /// The member of a list that has this text; null where there is none.
  [[nodiscard]] std::pair<const Json*, std::string> entry(const std::string& list, const std::string& key,
                                                          const std::string& text) const {
    const Json& all = document.list(list);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string where = fmt::format("{}[{}].", list, i);
      if (document.text(all[i], key, where) == text) return {&all[i], where};
    }
    return {nullptr, list};
  }
  [[nodiscard]] Values required_values(const std::string& list, const std::string& id) const {
    const auto [json, where] = entry(list, "id", id);
    if (json == nullptr) throw document.wrong(fmt::format("{}: {}", list, id));
    return values(*json, where);
  }

  [[nodiscard]] Wiring wiring(const std::string& device) const {
    Wiring found;
    const auto [json, where] = entry("topology", "device", device);
    if (json == nullptr) return found;  // a board by itself
    const Json& each = document.member(*json, "devices_per_node", &Json::is_number, where);
    found.devices_per_node = static_cast<int>(number(each, where + "devices_per_node"));
    if (found.devices_per_node < 1) throw document.wrong(where + "devices_per_node");
    for (const auto& [transport, id] : document.member(*json, "networks", &Json::is_object, where).items()) {
      if (!id.is_string()) throw document.wrong(where + "networks." + transport);
      found.networks[transport] = id.get<std::string>();
    }
    return found;
  }

  /// None for a network of another kind, whose messages take no way over the hosts.
  [[nodiscard]] std::optional<HostNetwork> host_network(const std::string& id, int devices, int nodes) const {
    const auto [json, where] = entry("networks", "id", id);
    if (json == nullptr) throw document.wrong("networks: " + id);
    if (document.text(*json, "kind", where) != "host") return std::nullopt;
    std::vector<HostNetwork::Curve> curves;
    for (const Json& one : document.member(*json, "curves", &Json::is_array, where)) {
      const std::string place = fmt::format("{}curves[{}].", where, curves.size());
      HostNetwork::Curve& curve = curves.emplace_back();
      curve.devices = number(document.member(one, "devices", &Json::is_number, place), place + "devices");
      curve.nodes = number(document.member(one, "nodes", &Json::is_number, place), place + "nodes");
      curve.message_bytes = numbers(one, "message_bytes", place);
      curve.seconds = numbers(one, "seconds", place);
      const bool is_curve = !curve.seconds.empty() && curve.seconds.size() == curve.message_bytes.size() &&
                            std::ranges::is_sorted(curve.message_bytes) && curve.devices >= 1 &&
                            curve.nodes >= 1 && std::ranges::min(curve.seconds) > 0;
      if (!is_curve) throw document.wrong(place + "seconds");
    }
    return HostNetwork(values(*json, where), std::move(curves), devices, nodes);
  }
};

HostNetwork::HostNetwork(Values values, std::vector<Curve> curves, int devices, int nodes)
    : values_(std::move(values)), is_alone_(devices == 1) {
  // One rank sends to itself: its curve says nothing of others, and those of others nothing of one.
  std::erase_if(curves, [&](const Curve& curve) { return (curve.devices == 1) != is_alone_; });
  const auto nearest = std::ranges::min_element(
      curves, {}, [&](const Curve& curve) { return distance(curve, devices, nodes); });
  if (nearest != curves.end()) curve_ = *nearest;
}

std::optional<double> HostNetwork::message_seconds(double bytes) const {
  if (curve_) return interpolated(*curve_, bytes) / kNeighbours;
  const std::optional<double> to_itself = find_in(values_, "self_bytes_per_second");
  return is_alone_ && to_itself ? bytes / *to_itself : link_seconds(bytes);
}

std::optional<double> HostNetwork::link_seconds(double bytes) const {
  const std::optional<double> rate = find_in(values_, "link_bytes_per_second");
  if (!rate) return std::nullopt;
  double hop = 0;
  for (const char* name : {"latency_seconds", "start_seconds", "switch_seconds"})
    hop += find_in(values_, name).value_or(0);
  return bytes / *rate + hop;
}

SystemCosts::SystemCosts(const SystemPlace& place)
    : file_(fmt::format("'{}'", place.file.string())), device_(place.device) {
  const Reader reader{SystemDocument(place.file)};
  values_ = reader.required_values("devices", place.device);
  if (!place.bitstream.empty()) {
    for (const auto& [name, value] : reader.required_values("bitstreams", place.bitstream))
      values_[name] = value;
  }
  const Wiring wiring = reader.wiring(place.device);
  const int nodes = (place.devices + wiring.devices_per_node - 1) / wiring.devices_per_node;
  has_neighbours_ = place.devices > nodes;
  for (const auto& [transport, id] : wiring.networks) {
    if (const std::optional<HostNetwork> found = reader.host_network(id, place.devices, nodes))
      networks_.emplace(transport, *found);
  }
}

std::optional<double> SystemCosts::find(const std::string& name) const { return find_in(values_, name); }

double SystemCosts::need(const std::string& name) const {
  const std::optional<double> found = find(name);
  if (found && *found > 0) return *found;
  throw bad_use(
      fmt::format("{} says no {} of {}, which a kernel or copy is charged with", file_, name, device_),
      name == "kernel_hz" ? "choose a bitstream of the system with --bitstream-id"
                          : "add it to the system and export it again");
}

double SystemCosts::array_copy_seconds(bool is_to_device, double bytes) const {
  const std::string way = is_to_device ? "host_to_device" : "device_to_host";
  return value_or(way + "_seconds", 0) + bytes / need(way + "_bytes_per_second");
}

double SystemCosts::message_copy_seconds(bool is_to_device, double bytes) const {
  const std::string way = is_to_device ? "host_to_device" : "device_to_host";
  if (bytes < value_or("programmed_bytes", 0)) {  // word by word
    return std::max(value_or("programmed_seconds", 0), bytes * inverse(find("programmed_bytes_per_second")));
  }
  const double waiting =
      value_or(way + "_seconds", 0) + (bytes >= value_or("page_bytes", 0) ? value_or("page_seconds", 0) : 0);
  const double a_byte = 1 / need(way + "_bytes_per_second") + inverse(find("staging_bytes_per_second"));
  return (waiting + bytes * a_byte) * (has_neighbours_ ? value_or("neighbour_factor", 1) : 1);
}

double SystemCosts::message_seconds(const std::string& transport, double bytes) const {
  const std::optional<double> found = network(transport).message_seconds(bytes);
  if (found) return *found;
  throw bad_use(fmt::format("{} says neither link_bytes_per_second nor a curve of the network for {}", file_,
                            transport),
                "add one to the network and export the system again");
}

const HostNetwork& SystemCosts::network(const std::string& transport) const {
  const auto found = networks_.find(transport);
  if (found != networks_.end()) return found->second;
  throw bad_use(
      fmt::format("{} has no network of the kind host for the transport {} of {}", file_, transport, device_),
      "name one in [devices.networks] of the system, or use another transport");
}

}  // namespace fabricmark::runtime
