// Devices, queues, memory and events of the SYCL plugin.
#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "plugin.hpp"

// Later SYCLs have neither FPGAs nor their memories.
#if __has_include(<sycl/ext/intel/fpga_extensions.hpp>)
#include <sycl/ext/intel/experimental/usm_properties.hpp>
#define FABRICMARK_BUFFER_LOCATION 1
#endif

namespace fabricmark::sycl_plugin {

namespace {

thread_local std::string words_of_thread;

/// Those that OpenCL stands behind, as kernels need it, and that have memory of their own to allocate.
const std::vector<sycl::device>& devices() {
  static const std::vector<sycl::device> all = [] {
    std::vector<sycl::device> found;
    for (const sycl::platform& platform : sycl::platform::get_platforms()) {
      if (platform.get_backend() != kBackend) continue;
      for (const sycl::device& device : platform.get_devices()) {
        if (device.has(sycl::aspect::usm_device_allocations)) found.push_back(device);
      }
    }
    return found;
  }();
  return all;
}

Outcome count_devices(std::size_t* count) {
  return guarded([&] { *count = devices().size(); });
}

std::int32_t kind_of(const sycl::device& device) {
  return device.is_gpu() ? kGpu : device.is_cpu() ? kCpu : kAccelerator;
}

/// SYCL 2020 does not ask for it any more.
bool shares_host_memory(const sycl::device& device) {
  cl_device_id const handle = sycl::get_native<kBackend>(device);
  cl_bool shares = CL_FALSE;
  clGetDeviceInfo(handle, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(shares), &shares, nullptr);
  clReleaseDevice(handle);
  return shares != CL_FALSE;
}

#if defined(FABRICMARK_BUFFER_LOCATION)
/// Of OpenCL's platform or device, with spaces around each name.
bool has_extension(const sycl::device& device, const std::string& name) {
  cl_device_id const handle = sycl::get_native<kBackend>(device);
  std::size_t bytes = 0;
  clGetDeviceInfo(handle, CL_DEVICE_EXTENSIONS, 0, nullptr, &bytes);
  std::string all(bytes, '\0');
  clGetDeviceInfo(handle, CL_DEVICE_EXTENSIONS, bytes, all.data(), nullptr);
  clReleaseDevice(handle);
  const std::string words = ' ' + std::string(all.c_str()) + ' ';
  return words.find(' ' + name + ' ') != std::string::npos;
}
#endif

Outcome describe(std::size_t index, DeviceFacts* facts) {
  return guarded([&] {
    namespace info = sycl::info::device;
    const sycl::device& device = devices().at(index);
    const sycl::platform platform = device.get_platform();
    put(facts->platform, platform.get_info<sycl::info::platform::name>());
    put(facts->platform_version, "libsycl " + std::to_string(__LIBSYCL_MAJOR_VERSION) + "." +
                                     std::to_string(__LIBSYCL_MINOR_VERSION) + " over " +
                                     platform.get_info<sycl::info::platform::version>());
    put(facts->name, device.get_info<info::name>());
    put(facts->vendor, device.get_info<info::vendor>());
    put(facts->driver, device.get_info<info::driver_version>());
    facts->kind = kind_of(device);
    facts->compute_units = device.get_info<info::max_compute_units>();
    facts->global_memory_bytes = device.get_info<info::global_mem_size>();
    facts->max_allocation_bytes = device.get_info<info::max_mem_alloc_size>();
    facts->local_memory_bytes = device.get_info<info::local_mem_size>();
    facts->cache_bytes = device.get_info<info::global_mem_cache_size>();
    facts->max_work_group_size = device.get_info<info::max_work_group_size>();
    facts->alignment_bytes = device.get_info<info::mem_base_addr_align>() / 8;
    facts->has_half = device.has(sycl::aspect::fp16) ? 1 : 0;
    facts->has_double = device.has(sycl::aspect::fp64) ? 1 : 0;
    facts->has_shared_memory = device.has(sycl::aspect::usm_shared_allocations) ? 1 : 0;
    facts->shares_host_memory = shares_host_memory(device) ? 1 : 0;
  });
}

sycl::device part_of(const sycl::device& device, std::int32_t share, std::int32_t shares) {
  constexpr auto kEqually = sycl::info::partition_property::partition_equally;
  const std::size_t units = device.get_info<sycl::info::device::max_compute_units>();
  const std::size_t each = std::max<std::size_t>(1, units / static_cast<std::size_t>(std::max(1, shares)));
  if (shares <= 1 || each == units) return device;
  try {
    const std::vector<sycl::device> parts = device.create_sub_devices<kEqually>(each);
    return parts.at(static_cast<std::size_t>(share) % parts.size());
  } catch (const sycl::exception&) {
    return device;
  }
}

/// Ranks of one process share a device's context, as those of OpenCL do.
sycl::context context_on(const sycl::device& device) {
  static std::mutex mutex;
  static std::vector<std::pair<sycl::device, sycl::context>> known;
  const std::scoped_lock lock(mutex);
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == device; });
  return found != known.end() ? found->second : known.emplace_back(device, sycl::context(device)).second;
}

Outcome open(std::size_t index, std::int32_t share, std::int32_t shares, Device** opened,
             std::uint64_t* compute_units) {
  return guarded([&] {
    const sycl::device device = part_of(devices().at(index), share, shares);
    *compute_units = device.get_info<sycl::info::device::max_compute_units>();
    *opened = new Device{device, context_on(device)};
  });
}

void close(Device* device) { delete device; }

Outcome make_queue(Device* device, std::int32_t profiling, Queue** queue) {
  return guarded([&] {
    using sycl::property::queue::enable_profiling;
    using sycl::property::queue::in_order;
    const sycl::property_list properties = profiling != 0
                                               ? sycl::property_list{in_order(), enable_profiling()}
                                               : sycl::property_list{in_order()};
    *queue = new Queue{sycl::queue(device->context, device->device, properties)};
  });
}

void release_queue(Queue* queue) { delete queue; }

Outcome flush(Queue* queue) {
  // Not SYCL's ext_oneapi_prod: over OpenCL that waits until the commands have ended (libsycl 9.0), and
  // kernels of two queues would run one after the other.
  const cl_int code = clFlush(queue->handle);
  return code == CL_SUCCESS ? kDone : failed(kRefused, "OpenCL error " + std::to_string(code));
}

Outcome finish(Queue* queue) {
  return guarded([&] { queue->queue.wait(); });
}

Outcome begin_after(Queue* queue, Event* const* events, std::size_t count) {
  return guarded([&] { queue->queue.ext_oneapi_submit_barrier(all_of(events, count)); });
}

/// Which SYCL takes no notice of where OpenCL below does not know it, as on CPUs: all is one memory there.
/// A board without it would put the buffer anywhere.
sycl::property_list in_memory(const sycl::device& device, std::int32_t location) {
  if (location == kUsualMemory || !device.is_accelerator()) return {};
  const std::string where = "memory " + std::to_string(location) + " of a board";
#if defined(FABRICMARK_BUFFER_LOCATION)
  if (!has_extension(device, "cl_intel_mem_alloc_buffer_location"))
    throw std::runtime_error(where + " cannot be chosen: OpenCL below lacks its extension for it");
  return {
      sycl::ext::intel::experimental::property::usm::buffer_location(static_cast<std::uint64_t>(location))};
#else
  throw std::runtime_error(where + " cannot be chosen: libsycl " + std::to_string(__LIBSYCL_MAJOR_VERSION) +
                           " knows no FPGAs any more; intel-sycl-rt 2025.0 does");
#endif
}

Outcome allocate(Device* device, std::int32_t kind, std::int32_t location, std::size_t bytes, void** memory) {
  return guarded([&] {
    constexpr std::size_t kPageBytes = 4096;
    const auto usm = kind == kHostMemory     ? sycl::usm::alloc::host
                     : kind == kSharedMemory ? sycl::usm::alloc::shared
                                             : sycl::usm::alloc::device;
    const sycl::property_list where = in_memory(device->device, location);
    *memory = sycl::aligned_alloc(kPageBytes, bytes, device->device, device->context, usm, where);
    // Not every device aligns by a whole page; SYCL then gives nothing.
    if (*memory == nullptr) *memory = sycl::malloc(bytes, device->device, device->context, usm, where);
    if (*memory == nullptr) throw sycl::exception(sycl::make_error_code(sycl::errc::memory_allocation));
  });
}

void release_memory(Device* device, void* memory) {
  guarded([&] { sycl::free(memory, device->context); });
}

Outcome copy(Queue* queue, void* to, const void* from, std::size_t bytes, Event** done) {
  return guarded([&] { hand_over(queue->queue.memcpy(to, from, bytes), done); });
}

Outcome fill(Queue* queue, void* memory, unsigned char value, std::size_t bytes) {
  return guarded([&] { queue->queue.memset(memory, value, bytes); });
}

Outcome has_ended(Event* event, std::int32_t* ended) {
  return guarded([&] {
    const auto status = event->event.get_info<sycl::info::event::command_execution_status>();
    *ended = status == sycl::info::event_command_status::complete ? 1 : 0;
  });
}

Outcome wait(Event* event) {
  return guarded([&] { event->event.wait(); });
}

Outcome times(Event* event, Times* times) {
  return guarded([&] {
    namespace profiling = sycl::info::event_profiling;
    constexpr double kNanosecond = 1e-9;
    const sycl::event& of = event->event;
    times->submitted = kNanosecond * static_cast<double>(of.get_profiling_info<profiling::command_submit>());
    times->started = kNanosecond * static_cast<double>(of.get_profiling_info<profiling::command_start>());
    times->ended = kNanosecond * static_cast<double>(of.get_profiling_info<profiling::command_end>());
  });
}

void release_event(Event* event) { delete event; }

}  // namespace

Outcome failed(Outcome outcome, const std::string& words) {
  words_of_thread = words;
  return outcome;
}

const char* last_words() { return words_of_thread.c_str(); }

void put(Text& text, const std::string& words) {
  const std::size_t kept = std::min(words.size(), kTextBytes - 1);
  std::copy_n(words.begin(), kept, text);
  text[kept] = '\0';
}

}  // namespace fabricmark::sycl_plugin

/// The one name that the plugin offers (kEntry).
extern "C" __attribute__((visibility("default"))) const fabricmark::sycl_plugin::Functions*
fabricmark_sycl_functions() {
  using namespace fabricmark::sycl_plugin;
  static const Functions all = [] {
    Functions own{};
    own.version = kVersion;
    own.last_words = last_words;
    own.count_devices = count_devices;
    own.describe = describe;
    own.open = open;
    own.close = close;
    own.make_queue = make_queue;
    own.release_queue = release_queue;
    own.flush = flush;
    own.finish = finish;
    own.begin_after = begin_after;
    own.allocate = allocate;
    own.release_memory = release_memory;
    own.copy = copy;
    own.fill = fill;
    own.has_ended = has_ended;
    own.wait = wait;
    own.times = times;
    own.release_event = release_event;
    add_kernels(own);
    return own;
  }();
  return &all;
}
