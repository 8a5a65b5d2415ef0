#pragma once

#include <xrt/xrt_device.h>

#include <string>

namespace xrt {

class kernel {
 public:
  enum class cu_access_mode { exclusive, shared, none };
  kernel(const device& /*of*/, const uuid& /*id*/, const std::string& name, cu_access_mode mode) {
    stub::record("kernel", name, mode == cu_access_mode::exclusive ? "exclusive" : "shared");
  }
};

}  // namespace xrt
