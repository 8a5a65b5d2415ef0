#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"

namespace fabricmark::device {

/// What keeps PoCL from writing into its cache, without which it can build nothing, such as "its cache '/x'
/// cannot be written (No space left on device)". PoCL itself ends the process where the disk is full.
std::optional<std::string> trouble_with_pocl_cache();
/// Before PoCL is loaded: where its usual place below HOME or XDG_CACHE_HOME cannot be written, as on the
/// nodes of a cluster, has it keep kernels in a folder of the user's below TMPDIR.
void prepare_pocl_cache();

/// Throws Error (environment) where the device is PoCL's and its cache cannot be written.
void check_runtime_cache(const DeviceInfo& info);

}  // namespace fabricmark::device
