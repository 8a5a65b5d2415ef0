#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace fabricmark::device {

/// Where bytes lie, which decides who reaches them and how.
enum class MemorySpace {
  kPageable,      ///< the host's memory as the system gives it
  kPinned,        ///< the host's memory that a device reaches by itself
  kInterProcess,  ///< the host's memory that its ranks share
  kShared,        ///< of host and device alike (SVM)
  kDeviceBank,    ///< of a device
  kOnChip,        ///< of a kernel
  kDryRun,        ///< has no bytes
};

constexpr std::string_view name(MemorySpace space) {
  constexpr std::array kNames{"pageable host memory",
                              "pinned host memory",
                              "host memory of several processes",
                              "memory that host and device share",
                              "device memory",
                              "on-chip memory",
                              "memory of a dry run"};
  return kNames.at(static_cast<std::size_t>(space));
}

/// Whether the host reads and writes it by itself.
constexpr bool is_on_host(MemorySpace space) {
  return space == MemorySpace::kPageable || space == MemorySpace::kPinned ||
         space == MemorySpace::kInterProcess;
}

/// Whether a device's copies reach it, and kernels of any host code work on it.
constexpr bool is_on_device(MemorySpace space) {
  return space == MemorySpace::kDeviceBank || space == MemorySpace::kShared || space == MemorySpace::kDryRun;
}

}  // namespace fabricmark::device
