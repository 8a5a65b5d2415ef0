#pragma once

#include <experimental/xrt_ip.h>

namespace vnx {

class Networklayer {
 public:
  explicit Networklayer(xrt::ip&& /*unit*/) {}
};

}  // namespace vnx
