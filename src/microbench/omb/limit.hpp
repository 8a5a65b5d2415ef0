#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"
#include "microbench/omb/options.hpp"

namespace fabricmark::microbench::omb {

/// The most that messages of one pair can carry in one direction.
struct Limit {
  double bytes_per_second = 0;
  std::string source;  ///< in words
};

/// What a result may be above its limit: two measurements of the same differ.
inline constexpr double kLimitMargin = 1.1;

/// What the command line says, else the calibration of this device (`fabricmark calibrate`), where there is
/// one and messages cross the link to it or the memory that it shares with the host; none where nothing says.
/// A damaged calibration counts as none.
std::optional<Limit> limit_of(const Options& options, const device::DeviceInfo& device);

}  // namespace fabricmark::microbench::omb
