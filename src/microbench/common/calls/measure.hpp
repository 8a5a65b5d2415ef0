#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "device/device.hpp"
#include "microbench/common/calls/options.hpp"
#include "microbench/common/calls/row.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::microbench {

/// Carries out an operation over one way.
class Measurer : public Interface {
 public:
  /// Collective: the same on every rank. Throws Error (1) where a call has failed.
  virtual Row measure(std::size_t bytes) = 0;
  /// Of the placement: what the ranks run on.
  [[nodiscard]] virtual device::DeviceInfo device() const { return device::Device::none().info(); }
  /// What a reader of the results needs to know of it.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

/// Collective. Throws Error (bad use) for a system that does not have what `options` ask for, and where a
/// transport is not to be had.
std::unique_ptr<Measurer> make_measurer(runtime::Communicator& ranks, const Options& options);

/// Of each way.
std::unique_ptr<Measurer> over_engine(runtime::Communicator& ranks, const Options& options);
std::unique_ptr<Measurer> over_links(runtime::Communicator& ranks, const Options& options);
std::unique_ptr<Measurer> over_transport(runtime::Communicator& ranks, const Options& options);

}  // namespace fabricmark::microbench
