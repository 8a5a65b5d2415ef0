#pragma once

#include <vector>

#include "device/device.hpp"

namespace fabricmark::device::sycl {

/// The variable with the plugin's file. Where it is set SYCL takes the place of OpenCL: both would offer the
/// same devices, and ranks that take one after the other would mix them.
inline constexpr const char* kPluginVariable = "FABRICMARK_SYCL";

/// Whether the environment asks for SYCL.
bool is_wanted();

/// What SYCL offers of its platforms that OpenCL stands behind, named "SYCL: " and the platform. To be called
/// with the set-up lock where `is_wanted`. Throws Error (environment) where the plugin cannot be loaded or
/// fails.
std::vector<FoundPlatform> platforms();

}  // namespace fabricmark::device::sycl
