#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "device/device.hpp"
#include "device/memory.hpp"
#include "device/memory_space.hpp"

namespace fabricmark::transport {

/// Bytes of this rank that messages leave from and arrive in, on the host or on a device.
class Memory {
 public:
  /// Of the host; throws std::bad_alloc.
  explicit Memory(std::size_t bytes) : host_(bytes) {}
  /// Of a device. Throws as device::Buffer.
  Memory(const device::Device& device, std::size_t bytes, device::MemoryKind kind)
      : device_(std::in_place, device, bytes, kind), queue_(device.queue()) {}

  /// A buffer that is there already; `queue` is for `write` and `read`.
  Memory(device::Buffer buffer, device::Queue queue) : device_(std::move(buffer)), queue_(std::move(queue)) {}

  [[nodiscard]] device::MemorySpace space() const;
  [[nodiscard]] std::size_t bytes() const { return device_ ? device_->bytes() : host_.size(); }
  /// Copies from and to the host's memory, outside of any message; done when they return. Offsets in bytes.
  void write(std::size_t offset, std::span<const std::byte> bytes);
  void read(std::size_t offset, std::span<std::byte> bytes);
  /// What the host reads and writes by itself. Throws std::logic_error for memory of a device.
  [[nodiscard]] std::span<std::byte> host();
  /// What kernels work on. Throws std::logic_error for memory of the host.
  [[nodiscard]] device::Buffer& device();
  /// A view of its memory object for a library that knows it by its handle, made once: such a library may do
  /// much on the first use of a handle. `offset` is a multiple of the device's alignment, or 0.
  [[nodiscard]] device::Buffer part(std::size_t offset, std::size_t bytes);

 private:
  device::HostArray<std::byte> host_;
  std::optional<device::Buffer> device_;
  device::Queue queue_;
  std::map<std::pair<std::size_t, std::size_t>, device::Buffer> parts_;  // [offset, bytes]
};

/// Part of a memory; sizes in bytes.
struct Region {
  Memory* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// A region that leaves for another rank or arrives from it; the tag tells messages of the same two ranks
/// apart.
struct Message : Region {
  int peer = 0;
  int tag = 0;
};

/// Of all these messages.
std::size_t total_bytes(std::span<const Message> messages);

}  // namespace fabricmark::transport
