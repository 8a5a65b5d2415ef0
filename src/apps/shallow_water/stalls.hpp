#pragma once

#include <string>
#include <vector>

#include "apps/shallow_water/device_kernels.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::shallow_water {

/// Of how much of its modelled time the element kernel of a device has stood still, by cause; that device on
/// which it is most.
class Stalls {
 public:
  /// What a device has done since the last call that began one. Collective.
  void add(runtime::Communicator& ranks, const DeviceKernels& kernels, double modelled_seconds);
  void begin(const DeviceKernels& kernels);
  [[nodiscard]] std::vector<runtime::DerivedMetric> metrics() const;

 private:
  DeviceKernels::Stalls before_;
  double seconds_ = 0;
  double halos_ = 0;      ///< share of the time, of the device that waits most
  double pipelines_ = 0;  ///< the same
};

/// Of the timed part `lap` with so many steps.
runtime::Metric step_time(const std::string& lap, double steps);

}  // namespace fabricmark::shallow_water
