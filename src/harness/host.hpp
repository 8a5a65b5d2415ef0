#pragma once

#include <cstdint>
#include <string>

#include "device/device.hpp"

namespace fabricmark::harness {

/// The computer that a process runs on.
struct Host {
  std::string name;
  std::string cpu;
  int logical_cores = 1;
  std::uint64_t memory_bytes = 0;
  std::string operating_system;
  std::string kernel;
};

Host describe_host();

/// Memory that can be had without swapping; sizes in bytes.
std::uint64_t available_memory_bytes();
/// The largest cache of a core; 0 where the system does not say.
std::uint64_t last_level_cache_bytes();

/// The same of a device: a CPU's runtime knows less of its caches than the system does.
double last_cache_bytes(const device::DeviceInfo& info);

/// UTC, "2026-11-21T01:02:03Z".
std::string time_now();

}  // namespace fabricmark::harness
