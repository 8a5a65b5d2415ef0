#include "transport/memory.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace fabricmark::transport {

device::MemorySpace Memory::space() const {
  if (device_) return device_->space();
  return host_.is_pinned() ? device::MemorySpace::kPinned : device::MemorySpace::kPageable;
}

void Memory::write(std::size_t offset, std::span<const std::byte> bytes) {
  if (!device_) {
    std::ranges::copy(bytes, host_.data() + offset);
    return;
  }
  device_->write(queue_, bytes.data(), bytes.size(), offset);
  queue_.finish();
}

void Memory::read(std::size_t offset, std::span<std::byte> bytes) {
  if (!device_) {
    std::copy_n(host_.data() + offset, bytes.size(), bytes.begin());
    return;
  }
  device_->read(queue_, bytes.data(), bytes.size(), offset);
  queue_.finish();
}

std::span<std::byte> Memory::host() {
  if (device_) throw std::logic_error("the host has no view of a device's memory");
  return host_.span();
}

device::Buffer& Memory::device() {
  if (!device_) throw std::logic_error("kernels do not work on the host's memory");
  return *device_;
}

device::Buffer Memory::part(std::size_t offset, std::size_t bytes) {
  constexpr std::size_t kMostParts = 4096;
  const auto found = parts_.find({offset, bytes});
  if (found != parts_.end()) return found->second;
  if (parts_.size() >= kMostParts) parts_.clear();
  return parts_.emplace(std::pair(offset, bytes), device().part(offset, bytes)).first->second;
}

std::size_t total_bytes(std::span<const Message> messages) {
  return std::accumulate(messages.begin(), messages.end(), std::size_t{0},
                         [](std::size_t sum, const Message& message) { return sum + message.bytes; });
}

}  // namespace fabricmark::transport
