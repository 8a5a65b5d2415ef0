#include "transport/nvlink/windows.hpp"

#include <algorithm>

namespace fabricmark::transport {

std::optional<std::size_t> Windows::take() {
  auto* const found = std::ranges::find(is_taken_, false);
  if (found == is_taken_.end()) return std::nullopt;
  if (!buffer_) buffer_.emplace(device_, kSlots * kSlotBytes, device::MemoryKind::kPeer);
  *found = true;
  return static_cast<std::size_t>(found - is_taken_.begin());
}

void Windows::forget() {
  is_taken_.fill(false);
  buffer_.reset();
}

void Windows::fill(std::size_t slot, const device::Buffer& from, std::size_t offset, std::size_t bytes) {
  from.copy_to(queue_, *buffer_, bytes, offset, slot * kSlotBytes);
  queue_.finish();
}

void Windows::empty(std::size_t slot, device::Buffer& to, std::size_t offset, std::size_t bytes) {
  buffer_->copy_to(queue_, to, bytes, slot * kSlotBytes, offset);
  queue_.finish();
}

}  // namespace fabricmark::transport
