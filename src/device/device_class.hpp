#pragma once

#include <array>
#include <string>

namespace fabricmark::device {

/// What kind of hardware a device is; parameters have a default per class.
enum class DeviceClass { kCpu, kGpu, kFpga, kEmulator };

inline constexpr std::array kDeviceClasses{DeviceClass::kCpu, DeviceClass::kGpu, DeviceClass::kFpga,
                                           DeviceClass::kEmulator};

inline std::string class_name(DeviceClass device_class) {
  constexpr std::array kNames{"cpu", "gpu", "fpga", "emulator"};  // in the order of DeviceClass
  return kNames.at(static_cast<std::size_t>(device_class));
}

}  // namespace fabricmark::device
