#pragma once

#include <xrt/xrt_device.h>

#include <string>

namespace xrt {

class ip {
 public:
  ip(const device& /*of*/, const uuid& /*id*/, const std::string& name) { stub::record("ip", name); }
};

}  // namespace xrt
