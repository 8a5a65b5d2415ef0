#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "device/program.hpp"
#include "fabric/memory.hpp"
#include "microbench/omb/options.hpp"
#include "runtime/result.hpp"

namespace fabricmark::microbench::omb {

/// A device's memory of one kind, and the kernel that touches it.
class DeviceMemories {
 public:
  /// Builds or loads the kernel. Throws Error (bad use) for memory that the device does not have, which names
  /// what an FPGA's bitstream is built with.
  DeviceMemories(const device::Device& device, const Options& options, Placement place);

  [[nodiscard]] std::unique_ptr<fabric::Memory> allocate(std::size_t bytes) const;
  /// Most bytes of one: as many as can be had, found by trying where the device does not say.
  [[nodiscard]] std::size_t room(std::size_t wanted) const;
  /// Returns when the device has done it.
  void touch(fabric::Memory& memory) const;
  /// What touches it, for the result file.
  [[nodiscard]] const runtime::Result::Kernel& kernel() const { return file_; }

 private:
  const device::Device& device_;
  device::MemoryKind kind_;
  int bank_ = -1;
  runtime::Result::Kernel file_;
  std::unique_ptr<device::backend::Kernel> kernel_;
  device::Queue queue_;
};

}  // namespace fabricmark::microbench::omb
