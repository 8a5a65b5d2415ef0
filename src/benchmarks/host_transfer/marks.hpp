#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/benchmark.hpp"

namespace fabricmark::host_transfer {

// Entry points of the kernel file.
inline constexpr std::size_t kTouch = 0;
inline constexpr std::size_t kCountWrong = 1;
inline constexpr std::size_t kIncrement = 2;

/// The work-items of a kernel: a single one, or one for each word or page.
enum class WorkItems { kSingle, kEach };

/// With which `count` words or pages are worked on.
inline device::Geometry geometry_of(WorkItems work_items, std::size_t count) {
  if (work_items == WorkItems::kSingle) return {};
  return {count, device::Geometry::kAnyLocal};
}

/// Pages that so many bytes begin.
constexpr std::uint32_t pages_of(std::size_t bytes) {
  return static_cast<std::uint32_t>(device::whole_pages(bytes) / device::kPageBytes);
}

/// Bytes of a mark in a buffer of so many.
constexpr std::size_t mark_bytes_of(std::size_t bytes) { return std::min(bytes, sizeof(std::uint32_t)); }

/// Writes `value` plus its number into each page of memory of the host, or its lowest bytes where that has
/// less.
void put_marks(std::byte* memory, std::size_t bytes, std::uint32_t value);
/// Number of pages of the host that have another mark.
std::size_t count_wrong_marks(const std::byte* memory, std::size_t bytes, std::uint32_t value);

/// The same by kernels, in memory of the device.
class DeviceMarks {
 public:
  DeviceMarks(const runtime::Context& context, WorkItems work_items);

  void put(const device::Buffer& buffer, std::uint32_t value);
  std::size_t count_wrong(const device::Buffer& buffer, std::uint32_t value);

 private:
  device::Replications touch_;
  device::Replications count_;
  device::Buffer wrong_;
  WorkItems work_items_;
};

}  // namespace fabricmark::host_transfer
