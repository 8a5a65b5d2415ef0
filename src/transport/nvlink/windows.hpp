#pragma once

#include <array>
#include <optional>

#include "device/memory.hpp"

namespace fabricmark::transport {

/// Memory that other GPUs reach, for messages from and to memory that they do not: a slot holds a piece.
class Windows {
 public:
  static constexpr std::size_t kSlotBytes = std::size_t{32} << 20;

  explicit Windows(const device::Device& device) : device_(device), queue_(device.queue()) {}
  /// One that is free; none where all are in use.
  std::optional<std::size_t> take();
  void give_back(std::size_t slot) { is_taken_[slot] = false; }
  /// All of them get other memory: some copies may still write to this.
  void forget();

  /// Copies between a slot and a buffer of the device; done when they return. `offset` and `bytes` are of the
  /// buffer.
  void fill(std::size_t slot, const device::Buffer& from, std::size_t offset, std::size_t bytes);
  void empty(std::size_t slot, device::Buffer& to, std::size_t offset, std::size_t bytes);
  [[nodiscard]] device::cuda::PeerMemory memory(std::size_t slot) const {
    device::cuda::PeerMemory memory = buffer_->peer();
    memory.offset += slot * kSlotBytes;
    return memory;
  }

 private:
  static constexpr std::size_t kSlots = 4;

  const device::Device& device_;
  device::Queue queue_;
  std::optional<device::Buffer> buffer_;
  std::array<bool, kSlots> is_taken_{};
};

}  // namespace fabricmark::transport
