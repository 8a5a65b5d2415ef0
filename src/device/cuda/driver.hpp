#pragma once

#include <cstddef>

/// The driver's interface of NVIDIA's GPUs, as far as memory that several processes reach needs it. The
/// library is loaded when asked for, so that nothing needs it; its functions are declared here after NVIDIA's
/// "CUDA Driver API" (virtual memory management, stream and event management).
namespace fabricmark::device::cuda {

using Status = int;
using DeviceNumber = int;
using ContextHandle = void*;
using StreamHandle = void*;
using EventHandle = void*;
using Address = unsigned long long;
using MemoryHandle = unsigned long long;

inline constexpr Status kSuccess = 0;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNotReady = 600;

/// CUuuid
struct Uuid {
  unsigned char bytes[16];
};

/// CUmemLocation
struct Location {
  int type = 1;  ///< CU_MEM_LOCATION_TYPE_DEVICE
  int id = 0;
};

/// CUmemAllocationProp
struct AllocationProperties {
  int type = 1;     ///< CU_MEM_ALLOCATION_TYPE_PINNED
  int handles = 1;  ///< CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
  Location location;
  void* windows_data = nullptr;
  unsigned char flags[8] = {};
};

/// CUmemAccessDesc
struct Access {
  Location location;
  int flags = 3;  ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};

/// Functions of libcuda, by what they do.
struct Driver {
  Status (*init)(unsigned) = nullptr;
  Status (*device_count)(int*) = nullptr;
  Status (*device)(DeviceNumber*, int) = nullptr;
  Status (*device_uuid)(Uuid*, DeviceNumber) = nullptr;
  Status (*retain_context)(ContextHandle*, DeviceNumber) = nullptr;
  Status (*set_context)(ContextHandle) = nullptr;
  Status (*granularity)(std::size_t*, const AllocationProperties*, int) = nullptr;
  Status (*create)(MemoryHandle*, std::size_t, const AllocationProperties*, unsigned long long) = nullptr;
  Status (*release)(MemoryHandle) = nullptr;
  Status (*reserve)(Address*, std::size_t, std::size_t, Address, unsigned long long) = nullptr;
  Status (*free_address)(Address, std::size_t) = nullptr;
  Status (*map)(Address, std::size_t, std::size_t, MemoryHandle, unsigned long long) = nullptr;
  Status (*unmap)(Address, std::size_t) = nullptr;
  Status (*set_access)(Address, std::size_t, const Access*, std::size_t) = nullptr;
  Status (*export_memory)(void*, MemoryHandle, int, unsigned long long) = nullptr;
  Status (*import_memory)(MemoryHandle*, void*, int) = nullptr;
  Status (*create_stream)(StreamHandle*, unsigned) = nullptr;
  Status (*destroy_stream)(StreamHandle) = nullptr;
  Status (*synchronize)(StreamHandle) = nullptr;
  Status (*copy)(Address, Address, std::size_t, StreamHandle) = nullptr;
  Status (*create_event)(EventHandle*, unsigned) = nullptr;
  Status (*destroy_event)(EventHandle) = nullptr;
  Status (*record)(EventHandle, StreamHandle) = nullptr;
  Status (*query)(EventHandle) = nullptr;
  Status (*error_name)(Status, const char**) = nullptr;
};

/// Null where there is no such library, or an older one.
const Driver* driver();

/// Throws Error (environment) with the driver's word for the error where `status` is one.
void check(Status status, const char* call);

}  // namespace fabricmark::device::cuda
