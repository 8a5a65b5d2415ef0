#include "board/accl/device_memory.hpp"

#include <algorithm>

namespace fabricmark::accl {

std::uint64_t DeviceMemory::add(const collectives::View& memory) {
  memories_.push_back({next_, memory});
  next_ += (memory.bytes() + kPage - 1) / kPage * kPage + kPage;
  return memories_.size() - 1;
}

const collectives::View* DeviceMemory::view(std::uint64_t number) const {
  return number < memories_.size() ? &memories_[number].view : nullptr;
}

std::optional<collectives::View> DeviceMemory::at(std::uint64_t address, collectives::Type type) const {
  const auto behind = std::ranges::upper_bound(memories_, address, {}, &Memory::address);
  if (behind == memories_.begin()) return std::nullopt;
  const Memory& found = *(behind - 1);
  const std::uint64_t offset = address - found.address;
  const std::size_t width = collectives::bytes_of(type);
  if (offset > found.view.bytes() || offset % width != 0) return std::nullopt;
  return collectives::View{found.view.data == nullptr ? nullptr : found.view.data + offset,
                           (found.view.bytes() - offset) / width, type};
}

}  // namespace fabricmark::accl
