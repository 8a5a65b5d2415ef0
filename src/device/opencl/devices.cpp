#include "device/opencl/devices.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/opencl/adopted.hpp"
#include "device/opencl/nvidia.hpp"
#include "device/opencl/opencl.hpp"
#include "device/opencl/peer.hpp"
#include "device/xrt/devices.hpp"

namespace fabricmark::device::opencl {

namespace {

/// OpenCL pads some strings with a zero byte or blanks.
std::string trimmed(std::string text) {
  const auto is_padding = [](char c) { return c == '\0' || c == ' ' || c == '\n'; };
  while (!text.empty() && is_padding(text.back())) text.pop_back();
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

DeviceClass classify(const std::string& platform, const std::string& name, cl_device_type type) {
  if (names_emulation(platform) || names_emulation(name)) return DeviceClass::kEmulator;
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceClass::kGpu;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceClass::kCpu;
  return DeviceClass::kFpga;
}

/// Of Intel's FPGA emulator, whatever the cores: its workers (cl.fpga_emu.cfg) but one.
std::uint64_t emulator_threads() {
  constexpr std::uint64_t kUsual = 32;
  const char* given = std::getenv("CL_CONFIG_CPU_TBB_NUM_WORKERS");
  const std::uint64_t workers = given == nullptr ? kUsual : std::strtoull(given, nullptr, 10);
  return std::max<std::uint64_t>(workers, 2) - 1;
}

/// Of NVIDIA's GPUs (cl_nv_device_attribute_query).
std::uint64_t matrix_units(const cl::Device& device, const std::string& extensions) {
  constexpr cl_device_info kMajor = 0x4000, kMinor = 0x4001;
  if (extensions.find("cl_nv_device_attribute_query") == std::string::npos) return 0;
  cl_uint major = 0, minor = 0;
  if (clGetDeviceInfo(device(), kMajor, sizeof(major), &major, nullptr) != CL_SUCCESS ||
      clGetDeviceInfo(device(), kMinor, sizeof(minor), &minor, nullptr) != CL_SUCCESS)
    return 0;
  return matrix_units_of(std::uint64_t{10} * major + minor);
}

DeviceInfo describe(const cl::Platform& platform, const cl::Device& device) {
  DeviceInfo info;
  info.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.platform_version = trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.driver = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.device_class = classify(info.platform, info.name, device.getInfo<CL_DEVICE_TYPE>());
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.is_emulated_board = info.is_of_xrt() && xrt::emulates();
  if (info.device_class == DeviceClass::kEmulator) info.kernel_threads = emulator_threads();
  info.global_memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_allocation_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.cache_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  info.local_memory_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.max_work_group_size = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  info.sub_buffer_alignment_bytes = device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  info.shares_host_memory = device.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>() != CL_FALSE;
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  // XRT compiles nothing: what a board computes with is in its bitstream, whatever the extensions are.
  info.has_half = info.is_of_xrt() || extensions.find("cl_khr_fp16") != std::string::npos;
  info.has_double = info.is_of_xrt() || extensions.find("cl_khr_fp64") != std::string::npos;
  info.matrix_units = matrix_units(device, extensions);
  info.has_peer_memory = has_peer_memory(extensions);
  // Devices before OpenCL 2.0 refuse the query, XRT with a line of its own; they have no shared memory.
  const bool is_first_version = device.getInfo<CL_DEVICE_VERSION>().starts_with("OpenCL 1.");
  cl_device_svm_capabilities svm = 0;
  if (!is_first_version &&
      clGetDeviceInfo(device(), CL_DEVICE_SVM_CAPABILITIES, sizeof(svm), &svm, nullptr) == CL_SUCCESS) {
    info.has_svm = (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
  }
  return info;
}

std::vector<cl::Platform> all_platforms() {
  std::vector<cl::Platform> found;
  try {
    cl::Platform::get(&found);
  } catch (const cl::Error&) {
    found.clear();  // the loader reports "no platform" as an error
  }
  return found;
}

/// A part of the device with its share of the compute units, or the device itself where it cannot be divided.
cl::Device shared_part(const cl::Device& device, const Share& share) {
  const auto units = static_cast<int>(device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  const int units_each = std::max(1, units / share.count);
  if (share.count <= 1 || units_each == units) return device;
  const std::vector<cl_device_partition_property> properties{CL_DEVICE_PARTITION_EQUALLY, units_each, 0};
  try {
    std::vector<cl::Device> parts;
    cl::Device parent = device;
    parent.createSubDevices(properties.data(), &parts);
    return parts.empty() ? device : parts[static_cast<std::size_t>(share.index) % parts.size()];
  } catch (const cl::Error&) {
    return device;
  }
}

/// Ranks of one process share a device's context: a GPU would switch between contexts in time slices of a
/// quarter of a millisecond. Called with the set-up lock.
cl::Context context_on(const cl::Device& device) {
  static std::map<cl_device_id, cl::Context> contexts;
  const auto [entry, is_new] = contexts.try_emplace(device());
  if (is_new) entry->second = cl::Context(device);
  return entry->second;
}

class Opened : public backend::Device {
 public:
  Opened(DeviceInfo info, cl::Device device, cl::Context context)
      : info_(std::move(info)), device_(std::move(device)), context_(std::move(context)) {}
  [[nodiscard]] std::shared_ptr<backend::Queue> queue(bool profiling) const override {
    const auto lock = setup_lock();
    return std::make_shared<Queue>(
        cl::CommandQueue(context_, device_,
                         profiling ? cl::QueueProperties::Profiling : cl::QueueProperties::None),
        /*is_in_order=*/true, submits());
  }
  [[nodiscard]] std::shared_ptr<backend::Queue> unordered_queue(bool profiling) const override {
    constexpr cl_command_queue_properties kUnordered = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    if ((device_.getInfo<CL_DEVICE_QUEUE_PROPERTIES>() & kUnordered) == 0) return nullptr;
    const auto lock = setup_lock();
    return std::make_shared<Queue>(
        cl::CommandQueue(context_, device_, kUnordered | (profiling ? CL_QUEUE_PROFILING_ENABLE : 0)),
        /*is_in_order=*/false, submits());
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> allocate(std::size_t bytes, MemoryKind kind,
                                                          const Placement& placement) const override {
    return opencl::allocate(info_, device_, context_, bytes, kind, placement);
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> over(std::span<std::byte> host,
                                                      const Placement& placement) const override {
    return opencl::allocate_over(info_, context_, host, placement);
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> over_block(
      const std::shared_ptr<const cuda::Block>& block) const override {
    return opencl::allocate_over(info_, device_, context_, block);
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) const override {
    return opencl::allocate_pinned(info_, device_, context_, bytes);
  }
  [[nodiscard]] std::shared_ptr<void> pin(std::span<std::byte> pages) const override {
    if (info_.is_in_host_memory()) return nullptr;  // which reaches them as they are
    return opencl::pin(device_, context_, pages);
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> build(const std::string& source,
                                                              const std::string& options) const override {
    if (info_.is_of_xrt()) xrt::refuse_sources(info_);
    return opencl::build(device_, context_, source, options);
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> load(const std::string& binary) const override {
    return opencl::load(info_, device_, context_, binary);
  }

 private:
  /// XRT submits a command with the call that enqueues it, and its clFlush waits for the end of all: replicas
  /// would run one after the other.
  [[nodiscard]] bool submits() const { return info_.is_of_xrt(); }

  DeviceInfo info_;
  cl::Device device_;
  cl::Context context_;
};

FoundDevice found_device(const cl::Platform& platform, const cl::Device& device) {
  return {describe(platform, device), [device](const Share& share, DeviceInfo& info) {
            const cl::Device part = shared_part(device, share);
            info.compute_units = part.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
            return std::make_shared<const Opened>(info, part, context_on(part));
          }};
}

}  // namespace

FoundDevice adopted(cl_context context, cl_device_id device) {
  const cl::Context own_context(context, /*retainObject=*/true);
  const cl::Device own_device(device, /*retainObject=*/true);
  const auto devices = own_context.getInfo<CL_CONTEXT_DEVICES>();
  if (std::ranges::none_of(devices, [&](const cl::Device& one) { return one() == device; })) {
    throw bad_use("the device is none of its context", "give a context that was made for the device");
  }
  const cl::Platform platform(own_device.getInfo<CL_DEVICE_PLATFORM>());
  return {describe(platform, own_device), [own_context, own_device](const Share&, DeviceInfo& info) {
            return std::make_shared<const Opened>(info, own_device, own_context);
          }};
}

std::vector<FoundPlatform> platforms() {
  std::vector<FoundPlatform> found;
  for (const cl::Platform& platform : all_platforms()) {
    std::vector<cl::Device> devices;
    try {
      cl::Platform(platform).getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error&) {
      devices.clear();  // a platform without a device
    }
    FoundPlatform& one = found.emplace_back(trimmed(platform.getInfo<CL_PLATFORM_NAME>()));
    for (const cl::Device& device : devices) one.devices.push_back(found_device(platform, device));
  }
  return found;
}

}  // namespace fabricmark::device::opencl
