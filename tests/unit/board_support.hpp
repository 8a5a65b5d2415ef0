#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/benchmark.hpp"
#include "runtime/charged_ranks.hpp"
#include "runtime/kernel_spec.hpp"
#include "support.hpp"

/// Boards of a system that has all transports of kernels, those that are added later among them.
namespace fabricmark::test {

inline std::vector<std::string> transports_of_kernels() {
  return runtime::transports_between({runtime::Between::kStreams, runtime::Between::kEngines});
}

inline std::string system_with_boards() {
  using Json = nlohmann::json;
  const auto value = [](double number) { return Json{{"value", number}, {"kind", "published"}}; };
  const Json packets{{"latency_seconds", value(1.26e-6)},
                     {"switch_seconds", value(1e-6)},
                     {"start_seconds", value(0.24e-6)},
                     {"host_start_seconds", value(30e-6)},
                     {"copy_seconds", value(1.7e-6)},
                     {"copy_bytes_per_second", value(14e9)},
                     {"link_bytes_per_second", value(12.3e9)},
                     {"line_bytes_per_second", value(12.5e9)},
                     {"frame_bytes", value(8960)},
                     {"frame_overhead_bytes", value(78)}};
  const Json links{{"latency_seconds", value(520e-9)},
                   {"clock_hz", value(156.25e6)},
                   {"width_bytes", value(32)},
                   {"link_bytes_per_second", value(5e9)},
                   {"links", value(4)}};
  Json made{{"schema", "fabricmark-exported-system/1"}, {"name", "mine"}, {"bitstreams", Json::array()}};
  made["devices"] = {{{"id", "star"}, {"values", {{"banks", value(1)}}}}};
  made["networks"] = {{{"id", "packets"}, {"kind", "packet"}, {"topology", "switch"}, {"values", packets}},
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
    charged = runtime::charged_ranks(ranks, *conditions.clock);
    context.emplace(device, parameters, *charged, timeline, nullptr, variant, conditions);
  }
  [[nodiscard]] double seconds() const { return conditions.clock->seconds(); }

  device::Device device = device::Device::none();
  runtime::Parameters parameters;
  device::Timeline timeline{false};
  runtime::VariantSpec variant;
  runtime::RunConditions conditions;
  std::unique_ptr<runtime::Communicator> charged;
  std::optional<runtime::Context> context;
};

}  // namespace fabricmark::test
