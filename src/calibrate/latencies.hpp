#pragma once

#include <cstddef>

#include "base/clock.hpp"
#include "device/device.hpp"

namespace fabricmark::calibrate {

/// Median seconds from the start of an empty kernel of one work-item until the host knows that it has ended:
/// l_k of a call from the host in eq. 5.1 of Meyer 2024. `clock` is what the host looks at.
double invocation_seconds(const device::Device& device, const Clock& clock);

/// A copy from buffer to buffer on the device, as the host sees it.
struct DeviceCopy {
  double seconds = 0;           ///< median of one of kFewBytes: l_m of eq. 5.1
  double bytes_per_second = 0;  ///< of the bytes beyond these, in the best of several large copies
};

constexpr std::size_t kFewBytes = 64;  // one word of a board's memory

/// `most`: bytes of the large copies.
DeviceCopy device_copy(const device::Device& device, const Clock& clock, std::size_t most);

}  // namespace fabricmark::calibrate
