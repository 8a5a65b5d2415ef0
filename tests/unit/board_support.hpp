#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exported_system.hpp"
#include "runtime/benchmark.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/simulated_ranks.hpp"
#include "support.hpp"

/// Boards of a system that has all transports of kernels, those that are added later among them.
namespace fabricmark::test {

inline std::vector<std::string> transports_of_kernels() {
  return runtime::transports_between({runtime::Between::kStreams, runtime::Between::kEngines});
}

inline std::string system_with_boards() {
  using Json = nlohmann::json;
  const Json links{{"latency_seconds", published(520e-9)},
                   {"clock_hz", published(156.25e6)},
                   {"width_bytes", published(32)},
                   {"link_bytes_per_second", published(5e9)},
                   {"links", published(4)}};
  Json made{{"schema", "fabricmark-exported-system/1"}, {"name", "mine"}, {"bitstreams", Json::array()}};
  made["devices"] = {{{"id", "star"}, {"values", {{"banks", published(1)}}}}};
  made["networks"] = {packet_network("packets", 78),
                      {{"id", "links"}, {"kind", "direct"}, {"values", links}}};
  Json networks;
  for (const std::string& name : transports_of_kernels()) {
    const bool is_direct = runtime::transport_spec(name).between == runtime::Between::kStreams;
    networks[name] = is_direct ? "links" : "packets";
  }
  made["topology"] = {
      {{"device", "star"}, {"devices_per_node", 1}, {"most_devices", 25}, {"networks", networks}}};
  return made.dump();
}

/// A rank on such a system, with the options of transports as they are by themselves.
struct BoardRank {
  BoardRank(runtime::Communicator& ranks, const std::filesystem::path& file,
            const std::map<std::string, std::string>& options, const std::optional<runtime::Fault>& fault) {
    for (const runtime::TransportSpec& spec : runtime::transport_specs()) {
      for (const runtime::ParameterSpec& option : spec.parameters)
        parameters.set(option.name, option.defaults.at(""));
    }
    for (const auto& [name, text] : options) parameters.set(name, text);
    conditions.system =
        runtime::SystemPlace{.file = file, .device = "star", .bitstream = "", .devices = ranks.size()};
    conditions.fault = fault;
    simulated = runtime::simulated_ranks(ranks, *conditions.clock);
    context.emplace(device, parameters, *simulated, timeline, nullptr, variant, conditions);
  }
  [[nodiscard]] double seconds() const { return conditions.clock->seconds(); }

  device::Device device = device::Device::none();
  runtime::Parameters parameters;
  device::Timeline timeline{false};
  runtime::VariantSpec variant;
  runtime::RunConditions conditions;
  std::unique_ptr<runtime::Communicator> simulated;
  std::optional<runtime::Context> context;
};

}  // namespace fabricmark::test
