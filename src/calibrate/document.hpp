#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"

namespace fabricmark::calibrate {

/// "memory": the host's and the device's memories and caches; "arithmetic": peak operations of both;
/// "transfers": starting a kernel, copies and the link; "updates": random updates.
const std::vector<std::string>& part_names();

/// A calibration as JSON (schema fabricmark-calibration/3): the entries of these parts (none named: of all),
/// each rate the best of `passes`. Throws Error (environment) when there is no such device.
std::string document(const device::Selection& selection, const std::vector<std::string>& parts, int passes);

}  // namespace fabricmark::calibrate
