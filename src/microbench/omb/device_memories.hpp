#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "device/program.hpp"
#include "microbench/omb/options.hpp"
#include "runtime/result.hpp"
#include "transport/memory.hpp"

namespace fabricmark::microbench::omb {

/// The number of the bank that has memory of that kind; -1: the device has one kind, and it is that. Throws
/// Error (bad use) where there is none, which names what an FPGA's bitstream is built with.
int bank_of(const device::DeviceInfo& info, const Options& options, Placement place);

/// A device's memory of one kind, and the kernel that touches it.
class DeviceMemories {
 public:
  /// Builds the kernel, or takes that of the bitstream, which `loaded` is. Throws as bank_of,
  /// device::build_from_source and device::entry_point.
  DeviceMemories(const device::Device& device, const device::Program& loaded, const Options& options,
                 Placement place);

  [[nodiscard]] std::unique_ptr<transport::Memory> allocate(std::size_t bytes) const;
  /// Most bytes of one: as many as can be had, found by trying where neither device nor bitstream says it.
  [[nodiscard]] std::size_t room(std::size_t wanted) const;
  /// Returns when the device has done it.
  void touch(transport::Memory& memory) const;
  /// What touches it, for the result file.
  [[nodiscard]] const runtime::Result::Kernel& kernel() const { return file_; }

 private:
  const device::Device& device_;
  device::MemoryKind kind_;
  int bank_ = -1;
  std::uint64_t memory_bytes_ = 0;  ///< of that memory, where a bitstream says it; else 0
  runtime::Result::Kernel file_;
  std::unique_ptr<device::backend::Kernel> kernel_;
  device::Queue queue_;
};

}  // namespace fabricmark::microbench::omb
