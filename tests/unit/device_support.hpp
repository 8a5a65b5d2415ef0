#pragma once

#include <optional>

#include "device/device.hpp"
#include "support.hpp"

namespace fabricmark::device::test_support {

/// A test on the first device there is; skipped where there is none.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    // Built kernels of these tests are not to stay in the user's cache.
    setenv("FABRICMARK_CACHE", folder_.path().c_str(), 1);
    const std::vector<FoundDevice> found = find_devices({});
    if (found.empty()) GTEST_SKIP() << "no OpenCL device";
    found_ = found.front();
    device_.emplace(found_);
  }
  [[nodiscard]] const Device& device() const { return *device_; }

  test::TemporaryFolder folder_;
  FoundDevice found_;
  std::optional<Device> device_;
};

}  // namespace fabricmark::device::test_support
