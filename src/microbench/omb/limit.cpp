#include "microbench/omb/limit.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/host.hpp"
#include "device/program.hpp"
#include "transport/host/host_transport.hpp"

namespace fabricmark::microbench::omb {

namespace {

using nlohmann::json;

/// The most of a list of measurements of a copy, each byte of which is read and written.
double fastest_copy(const json& measured) {
  double fastest = 0;
  for (const json& one : measured) {
    if (one.at("mix") == "copy") fastest = std::max(fastest, one.at("bytes_per_second").get<double>());
  }
  return fastest / 2;
}

/// Bytes a second by a calibration; 0 where it is of another device.
double rate_of(const json& document, const Options& options, const device::DeviceInfo& device) {
  const json& known = document.at("device");
  if (known.at("name") != device.name || known.at("driver") != device.driver) return 0;
  if (document.at("host").at("cpu") != describe_host().cpu) return 0;
  // A message between memories of the host's is a copy within it.
  if (device.is_in_host_memory()) {
    return std::max(fastest_copy(document.at("host_memory")), fastest_copy(document.at("device_memory")));
  }
  const json& link = document.at("link");
  const double to = std::max(link.at("to_device_bytes_per_second").get<double>(),
                             document.at("write_bytes_per_second").get<double>());
  const double from = std::max(link.at("from_device_bytes_per_second").get<double>(),
                               document.at("read_bytes_per_second").get<double>());
  if (options.places[0] == Placement::kHost) return to;
  return options.places[1] == Placement::kHost ? from : std::min(to, from);
}

}  // namespace

std::optional<Limit> limit_of(const Options& options, const device::DeviceInfo& device) {
  if (options.limit) return Limit{*options.limit * 1e9, "--limit"};
  // Over mpi bytes may go from device to device without a link to the host.
  if (options.is_on_hosts() || options.transport != transport::HostTransport::kName) return std::nullopt;
  const std::filesystem::path cache = device::cache_folder();
  std::error_code ignored;
  double fastest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache / "calibration", ignored)) {
    std::ifstream file(entry.path());
    const json document = json::parse(file, nullptr, /*allow_exceptions=*/false);
    try {
      fastest = std::max(fastest, rate_of(document, options, device));
    } catch (const json::exception&) {
      continue;  // no calibration, or one of another version
    }
  }
  if (fastest <= 0) return std::nullopt;
  return Limit{fastest, "the calibration of this device"};
}

}  // namespace fabricmark::microbench::omb
