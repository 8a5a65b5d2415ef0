#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "device/cuda/peer_memory.hpp"
#include "device/device.hpp"
#include "device/opencl/opencl.hpp"

namespace fabricmark::device::opencl {

/// Whether a device with these extensions takes memory of CUDA's driver, by which other GPUs reach it.
bool has_peer_memory(const std::string& extensions);

/// Bytes from which on NVIDIA's runtime (580.159) dies of a memory object on memory of CUDA's driver.
inline constexpr std::size_t kTooLargeForPeers = std::size_t{512} << 20;

/// Memory of the same GPU by CUDA's driver. Throws Error (environment) where that does not know the GPU, or
/// has no room.
std::shared_ptr<const cuda::Block> peer_block(const DeviceInfo& info, const cl::Device& device,
                                              std::size_t bytes);

/// A block as a memory object (cl_khr_external_memory_opaque_fd), which is OpenCL's for as long as `held` is
/// there; the object goes before that.
struct PeerBuffer {
  cl::Buffer memory;
  std::shared_ptr<void> held;
};
/// Throws cl::Error.
PeerBuffer buffer_on(const std::shared_ptr<const cuda::Block>& block, const cl::Device& device,
                     const cl::Context& context);

}  // namespace fabricmark::device::opencl
