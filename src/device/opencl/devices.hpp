#pragma once

#include <vector>

#include "device/device.hpp"

namespace fabricmark::device::opencl {

/// What the OpenCL loader offers, in its order; empty where there is no loader or no runtime. To be called
/// with the set-up lock.
std::vector<FoundPlatform> platforms();

}  // namespace fabricmark::device::opencl
