#pragma once

#include "device/device.hpp"

namespace fabricmark::device {

/// The name of the platform with the dry-run device, which is offered to who asks for it only.
inline constexpr const char* kDryRunPlatform = "dry-run";
/// Its old name, which is taken for one more version.
inline constexpr const char* kOldDryRunPlatform = "phantom";

/// A platform with one device of the class FPGA that allocates and computes nothing: kernels and copies end
/// at once, and what is read is zero. Programs run on it to the end, with all their messages between ranks,
/// so that what they do can be timed on a clock; nothing that they print is a result.
FoundPlatform dry_run_platform();

}  // namespace fabricmark::device
