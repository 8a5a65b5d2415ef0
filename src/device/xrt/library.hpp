#pragma once

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

/// The runtime of device/backend.hpp that speaks to AMD's XRT natively, by its C interface. Its library is
/// loaded at run time: programs are built without it.
namespace fabricmark::device::xrt {

/// Functions of libxrt_coreutil, as AMD documents them (xrt_device.h, xrt_bo.h, xrt_kernel.h), and of the
/// driver. Handles are pointers that only the library looks into.
struct Library {
  using Id = std::array<unsigned char, 16>;
  enum Direction : int { kToDevice = 0, kFromDevice = 1 };
  enum Flags : std::uint64_t { kHostOnly = 1U << 29, kPeerToPeer = 1U << 30 };  // of xrt_mem.h
  /// What the driver says of a device, as far as it is needed; the whole record has some hundred bytes more.
  struct DeviceFacts {
    unsigned magic;
    char name[256];
    unsigned short numbers[7];
    std::size_t memory_bytes;
    std::size_t rest[512];
  };

  void* (*open)(unsigned index);
  int (*close)(void* device);
  int (*load)(void* device, const void* container);
  int (*loaded_id)(void* device, unsigned char* id);
  void* (*driver_handle)(void* device);
  void* (*open_kernel)(void* device, const unsigned char* id, const char* name);
  int (*close_kernel)(void* kernel);
  int (*group_of_argument)(void* kernel, int index);
  void* (*open_run)(void* kernel);
  int (*close_run)(void* run);
  int (*set_argument)(void* run, int index, ...);
  int (*start)(void* run);
  int (*wait)(void* run);
  void* (*allocate)(void* device, std::size_t bytes, std::uint64_t flags, std::uint32_t group);
  void* (*part)(void* buffer, std::size_t bytes, std::size_t offset);
  int (*release)(void* buffer);
  std::uint64_t (*address)(void* buffer);
  int (*export_buffer)(void* buffer);
  void* (*import_buffer)(void* device, int exported);
  int (*copy)(void* to, void* from, std::size_t bytes, std::size_t to_offset, std::size_t from_offset);
  void* (*map)(void* buffer);
  int (*synchronise)(void* buffer, int direction, std::size_t bytes, std::size_t offset);
  unsigned (*count_devices)();
  /// Of a driver, until 2.13 at least; null where it has none (2.25): then the three below are there.
  int (*facts)(void* driver_handle, DeviceFacts* facts);
  // xrt::device of C++, which has no C interface for a device's name: made in place of a handle of the
  // driver's, destroyed, and asked. Its values are std::any in every version.
  struct Abi {
    unsigned major = 2, minor = 25, patch = 0;
  };
  static constexpr unsigned kName = 5;  // xrt::info::device::name
  void (*make_device)(void* place, void* driver_handle);
  void (*destroy_device)(void* place);
  std::any (*device_value)(const void* made, unsigned value, const Abi* abi);
  std::string version;  ///< of the library that counts devices, by its file's name
};

/// Throws Error (environment) where it is not there, or lacks a function.
const Library& library();

/// A device's name, and its bytes of memory where the driver says them; else 0. Throws Error (environment)
/// where XRT refuses.
std::pair<std::string, std::size_t> facts_of(void* device);

/// What the last call that failed left in errno, in words.
std::string last_words();

}  // namespace fabricmark::device::xrt
