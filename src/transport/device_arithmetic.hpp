#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "collectives/moves.hpp"
#include "device/device.hpp"
#include "transport/memory.hpp"

namespace fabricmark::collectives {

/// Copies and reductions of elements where they lie, by the device. What it gives is what
/// collectives::combine gives, to the last bit but a NaN's payload in a sum.
class DeviceArithmetic {
 public:
  /// `device` has to live as long.
  explicit DeviceArithmetic(const device::Device& device) : device_(device), queue_(device.untimed_queue()) {}

  /// Whether it has such a reduction: not where kernels are built beforehand, and of float64 not without
  /// these.
  [[nodiscard]] bool has(Type type, Reduction reduction) const;
  /// Elements of the same type and number, in memory of the device at multiples of the type's bytes; done
  /// when it returns.
  void combine(Type type, Reduction reduction, const transport::Region& a, const transport::Region& b,
               const transport::Region& result);
  /// Bytes, of which none lie in both; done when it returns.
  void copy(const transport::Region& from, const transport::Region& to);

 private:
  device::backend::Kernel& kernel(Type type, Reduction reduction);

  const device::Device& device_;
  device::Queue queue_;
  std::map<std::pair<Type, Reduction>, std::unique_ptr<device::backend::Kernel>> kernels_;
};

}  // namespace fabricmark::collectives
