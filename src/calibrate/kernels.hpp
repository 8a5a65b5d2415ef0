#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/host.hpp"
#include "device/device.hpp"

namespace fabricmark::calibrate {

/// Independent random updates of 64-bit words in a table of some size.
struct RandomUpdates {
  std::uint64_t table_bytes = 0;
  double updates_per_second = 0;
};

/// One entry for each of half, float and double that the device offers. Throws device::Error where the
/// runtime refuses the kernels.
std::vector<ArithmeticRate> peaks(const device::Device& device);

/// What a kernel moves in working sets of 64 KiB to half a GiB: caches and memory of the device.
std::vector<MemoryRate> device_memory(const device::Device& device);

/// Tables from 1 MiB, which caches hold, up to half a GiB, which they do not; fewer on a small device.
std::vector<RandomUpdates> random_updates(const device::Device& device);

}  // namespace fabricmark::calibrate
