// Of XRT's C++ interface what src/board/accl_driver/plugin/plugin.cpp uses.
#pragma once

#include "recorded.hpp"

using xclDeviceHandle = void*;

namespace xrt {

class uuid {};

class device {
 public:
  device() = default;
  explicit device(xclDeviceHandle handle) { stub::record("device", handle != nullptr); }
  uuid get_xclbin_uuid() const { return {}; }
};

}  // namespace xrt
