#include "device/replicas.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/arguments.hpp"
#include "device/device.hpp"

namespace fabricmark::device {

Replicas replicas_of(const DeviceInfo& info) {
  if (const std::string given = environment("FABRICMARK_REPLICAS"); !given.empty()) {
    const std::map<std::string, Replicas> kinds{{"one-entry", Replicas::kOneEntry},
                                                {"entries", Replicas::kEntries},
                                                {"compute-units", Replicas::kComputeUnits}};
    if (const auto found = kinds.find(given); found != kinds.end()) return found->second;
    throw bad_use(fmt::format("FABRICMARK_REPLICAS='{}' is unknown", given),
                  "use one-entry, entries or compute-units");
  }
  if (info.device_class == DeviceClass::kEmulator) return Replicas::kEntries;
  if (info.device_class != DeviceClass::kFpga) return Replicas::kOneEntry;
  return info.is_of_xilinx() ? Replicas::kComputeUnits : Replicas::kEntries;
}

std::vector<std::string> replica_names(const EntryPoint& entry, Replicas replicas, int count) {
  if (!entry.is_replicated || replicas == Replicas::kOneEntry) return {entry.name};
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(replicas == Replicas::kEntries ? fmt::format("{}_{}", entry.name, i)
                                                   : fmt::format("{0}:{{{0}_{1}}}", entry.name, i + 1));
  }
  return names;
}

}  // namespace fabricmark::device
