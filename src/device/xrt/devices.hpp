#pragma once

#include <vector>

#include "device/device.hpp"

namespace fabricmark::device::xrt {

/// Set to "xrt", its devices stand in the place of OpenCL's.
inline constexpr const char* kBackendVariable = "FABRICMARK_BACKEND";

/// Whether the variable says so. Throws Error (bad use) for a backend that there is not.
bool is_wanted();

/// The boards that XRT finds. Throws Error (environment) where XRT is not there.
std::vector<FoundPlatform> platforms();

}  // namespace fabricmark::device::xrt
