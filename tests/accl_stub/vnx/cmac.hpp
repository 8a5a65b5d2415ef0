#pragma once

#include <experimental/xrt_ip.h>

namespace vnx {

class CMAC {
 public:
  explicit CMAC(xrt::ip&& /*unit*/) {}
};

}  // namespace vnx
