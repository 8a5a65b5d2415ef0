#pragma once

#include <cstddef>
#include <cstdint>

/// What the programs know of the SYCL plugin: a table of functions with C types only, since the plugin is
/// compiled by itself where SYCL is installed. Neither exceptions nor classes cross it.
namespace fabricmark::sycl_plugin {

/// Of this table; a plugin of another version is refused.
inline constexpr std::uint32_t kVersion = 2;
/// The name of the function that gives it, of the type `Entry`.
inline constexpr const char* kEntry = "fabricmark_sycl_functions";

/// What only the plugin can look into.
struct Device;
struct Queue;
struct Event;
struct Program;
struct Kernel;

/// What a function returns; its words are in Functions::last_words.
enum Outcome : std::int32_t {
  kDone = 0,
  kRefused = 1,
  kDoesNotBuild = 2,  ///< of build and load; the words are the compiler's
  kThereIsNone = 3,   ///< no kernel of this name, or nothing is known of its arguments
};

enum DeviceKind : std::int32_t { kCpu = 0, kGpu = 1, kAccelerator = 2 };

/// SYCL's kinds of memory (unified shared memory).
enum MemoryKind : std::int32_t { kDeviceMemory = 0, kHostMemory = 1, kSharedMemory = 2 };

/// In place of the number that a board's board_spec.xml gives a memory: the board's usual one.
inline constexpr std::int32_t kUsualMemory = -1;

inline constexpr std::size_t kTextBytes = 256;  ///< longer texts are cut
using Text = char[kTextBytes];

/// What SYCL says of a device; sizes in bytes, 1 stands for yes.
struct DeviceFacts {
  Text platform;
  Text platform_version;
  Text name;
  Text vendor;
  Text driver;
  std::int32_t kind;
  std::uint64_t compute_units;
  std::uint64_t global_memory_bytes;
  std::uint64_t max_allocation_bytes;
  std::uint64_t local_memory_bytes;
  std::uint64_t cache_bytes;
  std::uint64_t max_work_group_size;
  std::uint64_t alignment_bytes;
  std::int32_t has_half;
  std::int32_t has_double;
  std::int32_t has_shared_memory;
  std::int32_t shares_host_memory;
};

/// When a command was submitted, started and ended [s], by the device's clock.
struct Times {
  double submitted;
  double started;
  double ended;
};

/// Text that the plugin keeps until what it belongs to is released.
struct Bytes {
  const char* data;
  std::size_t size;
};

/// An argument of a kernel; empty where nothing is to say.
struct ArgumentFacts {
  Text space;
  Text type;
  Text name;
};

/// `done` may be null, then nobody asks for the end of the command.
struct Functions {
  std::uint32_t version;
  /// Of the last function of this thread that did not return kDone.
  const char* (*last_words)();

  Outcome (*count_devices)(std::size_t* count);
  Outcome (*describe)(std::size_t device, DeviceFacts* facts);
  /// Part `share` of `shares` equal ones, or the whole device where it cannot be divided.
  Outcome (*open)(std::size_t device, std::int32_t share, std::int32_t shares, Device** opened,
                  std::uint64_t* compute_units);
  void (*close)(Device* device);

  Outcome (*make_queue)(Device* device, std::int32_t profiling, Queue** queue);
  void (*release_queue)(Queue* queue);
  Outcome (*flush)(Queue* queue);
  Outcome (*finish)(Queue* queue);
  Outcome (*begin_after)(Queue* queue, Event* const* events, std::size_t count);

  /// In the board's memory of this number, or kUsualMemory. Where the device has one memory only, as a CPU,
  /// in this.
  Outcome (*allocate)(Device* device, std::int32_t kind, std::int32_t location, std::size_t bytes,
                      void** memory);
  void (*release_memory)(Device* device, void* memory);
  Outcome (*copy)(Queue* queue, void* to, const void* from, std::size_t bytes, Event** done);
  Outcome (*fill)(Queue* queue, void* memory, unsigned char value, std::size_t bytes);

  Outcome (*has_ended)(Event* event, std::int32_t* ended);
  Outcome (*wait)(Event* event);
  Outcome (*times)(Event* event, Times* times);
  void (*release_event)(Event* event);

  Outcome (*build)(Device* device, const char* source, const char* options, Program** program);
  Outcome (*load)(Device* device, const void* binary, std::size_t bytes, Program** program);
  void (*release_program)(Program* program);
  Outcome (*binary)(Program* program, Bytes* bytes);
  /// With a semicolon between two.
  Outcome (*kernel_names)(Program* program, Bytes* names);

  Outcome (*make_kernel)(Program* program, const char* name, Kernel** kernel);
  void (*release_kernel)(Kernel* kernel);
  Outcome (*set_memory)(Kernel* kernel, std::uint32_t index, void* memory);
  Outcome (*set_number)(Kernel* kernel, std::uint32_t index, const void* value, std::size_t bytes);
  Outcome (*count_arguments)(Kernel* kernel, std::size_t* count);
  Outcome (*describe_argument)(Kernel* kernel, std::uint32_t index, ArgumentFacts* facts);
  /// The memory in which the kernel looks for an argument's buffer: a number, or kUsualMemory.
  Outcome (*location)(Kernel* kernel, std::uint32_t index, std::int32_t* location);
  /// With `local` 0 SYCL chooses the work-groups.
  Outcome (*start)(Queue* queue, Kernel* kernel, std::size_t global, std::size_t local, Event* const* after,
                   std::size_t count, Event** done);
};

using Entry = const Functions* (*)();

}  // namespace fabricmark::sycl_plugin
