#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/shallow_water/device_kernels.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::shallow_water {

/// Of how much of its modelled time the element kernel of a device has stood still, by cause; that device on
/// which it is most.
class Stalls {
 public:
  explicit Stalls(const runtime::Context& context)
      : clock_hz_(context.costs() == nullptr ? 0 : context.costs()->value_or("kernel_hz", 0)) {}
  /// What a device has done since the last call that began one. Collective.
  void add(runtime::Communicator& ranks, const DeviceKernels& kernels, double modelled_seconds);
  void begin(const DeviceKernels& kernels);
  /// The shares, and the cycles of a step of the part `region` with so many: of the kernels' clock, where a
  /// system says it.
  [[nodiscard]] std::vector<runtime::DerivedMetric> metrics(
      const std::map<std::string, runtime::RegionSeconds>& regions, const std::string& region,
      double steps) const;

 private:
  double clock_hz_;
  DeviceKernels::Stalls before_;
  double seconds_ = 0;
  double halos_ = 0;      ///< share of the time, of the device that waits most
  double pipelines_ = 0;  ///< the same
};

}  // namespace fabricmark::shallow_water
