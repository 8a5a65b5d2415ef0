#include "device/device.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/folders.hpp"

namespace fabricmark::device {

namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool is_index(const std::string& text) {
  return !text.empty() && text.size() < 7 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool matches(const std::optional<std::string>& filter, int index, const std::string& name) {
  if (!filter) return true;
  if (is_index(*filter)) return std::stoi(*filter) == index;
  return lower(name).find(lower(*filter)) != std::string::npos;
}

/// OpenCL pads some strings with a zero byte or blanks.
std::string trimmed(std::string text) {
  const auto is_padding = [](char c) { return c == '\0' || c == ' ' || c == '\n'; };
  while (!text.empty() && is_padding(text.back())) text.pop_back();
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

DeviceClass classify(const std::string& platform, const std::string& name, cl_device_type type) {
  if (lower(platform).find("emulation") != std::string::npos ||
      lower(name).find("emulation") != std::string::npos) {
    return DeviceClass::kEmulator;
  }
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceClass::kGpu;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceClass::kCpu;
  return DeviceClass::kFpga;
}

DeviceInfo describe(const cl::Platform& platform, int platform_index, const cl::Device& device) {
  DeviceInfo info;
  info.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.platform_version = trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.driver = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.device_class = classify(info.platform, info.name, device.getInfo<CL_DEVICE_TYPE>());
  info.platform_index = platform_index;
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.global_memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_allocation_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.cache_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  info.local_memory_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.max_work_group_size = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  info.sub_buffer_alignment_bytes = device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  info.shares_host_memory = device.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>() != CL_FALSE;
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  info.has_half = extensions.find("cl_khr_fp16") != std::string::npos;
  info.has_double = extensions.find("cl_khr_fp64") != std::string::npos;
  // Devices before OpenCL 2.0 refuse the query; they have no shared memory.
  cl_device_svm_capabilities svm = 0;
  if (clGetDeviceInfo(device(), CL_DEVICE_SVM_CAPABILITIES, sizeof(svm), &svm, nullptr) == CL_SUCCESS) {
    info.has_svm = (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
  }
  return info;
}

std::vector<cl::Platform> platforms() {
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

}  // namespace

std::string class_name(DeviceClass device_class) {
  switch (device_class) {
    case DeviceClass::kCpu:
      return "cpu";
    case DeviceClass::kGpu:
      return "gpu";
    case DeviceClass::kFpga:
      return "fpga";
    case DeviceClass::kEmulator:
      return "emulator";
  }
  return "cpu";
}

std::vector<int> parse_mapping(const std::string& text) {
  std::vector<int> mapping;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(':', start), text.size());
    const std::string item = text.substr(start, end - start);
    if (!is_index(item)) {
      throw bad_use("FPGA_MAPPING='" + text + "' is not a list of device indices",
                    "write it like FPGA_MAPPING=2:0:3");
    }
    mapping.push_back(std::stoi(item));
    start = end + 1;
  }
  return mapping;
}

std::vector<FoundDevice> find_devices(const Selection& selection) {
  const auto lock = setup_lock();
  std::vector<FoundDevice> found;
  std::string seen;
  int platform_index = 0;
  int index_over_all = 0;
  for (const cl::Platform& platform : platforms()) {
    std::vector<cl::Device> devices;
    try {
      cl::Platform(platform).getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error&) {
      devices.clear();  // a platform without a device
    }
    const std::string name = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
    const bool platform_matches = matches(selection.platform, platform_index, name);
    // Indices count within the chosen platform, or over all platforms where none was chosen.
    if (selection.platform) index_over_all = 0;
    for (const cl::Device& device : devices) {
      DeviceInfo info = describe(platform, platform_index, device);
      info.device_index = index_over_all;
      seen += (seen.empty() ? "'" : ", '") + info.platform + ": " + info.name + "'";
      if (platform_matches && matches(selection.device, index_over_all, info.name))
        found.push_back({device, info});
      ++index_over_all;
    }
    ++platform_index;
  }
  if (found.empty() && !seen.empty()) {
    const std::string wanted =
        selection.platform && selection.device
            ? "platform '" + *selection.platform + "' with device '" + *selection.device + "'"
        : selection.platform ? "platform '" + *selection.platform + "'"
                             : "device '" + selection.device.value_or("") + "'";
    throw bad_use("there is no " + wanted, "choose among " + seen + " (--list-devices)");
  }
  return found;
}

std::vector<FoundDevice> require_devices(const Selection& selection) {
  std::vector<FoundDevice> found = find_devices(selection);
  if (!found.empty()) return found;
  const std::optional<std::string> trouble = trouble_with_pocl_cache();
  throw environment_failure(
      "no OpenCL device was found" + (trouble ? "; where PoCL is installed, " + *trouble : std::string()),
      "install a runtime (Debian: pocl-opencl-icd) or set OCL_ICD_VENDORS");
}

std::size_t mapped_device(const Selection& selection, std::size_t devices, int local_rank) {
  if (selection.mapping.empty()) return static_cast<std::size_t>(local_rank) % devices;
  const int index = selection.mapping[static_cast<std::size_t>(local_rank) % selection.mapping.size()];
  if (std::cmp_greater_equal(index, devices)) {
    throw bad_use("FPGA_MAPPING names device " + std::to_string(index) + " but only " +
                      std::to_string(devices) + " match",
                  "use indices from 0 to " + std::to_string(devices - 1) + " (--list-devices)");
  }
  return static_cast<std::size_t>(index);
}

Device::Device(const FoundDevice& found, Share share) : info_(found.info) {
  const auto lock = setup_lock();
  handle_ = shared_part(found.handle, share);
  context_ = context_on(handle_);
  info_.compute_units = handle_.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
}

Device Device::none() {
  Device device;
  const Host& host = describe_host();
  device.info_.platform = "none";
  device.info_.name = host.cpu;
  device.info_.compute_units = static_cast<std::uint64_t>(usable_cores());
  device.info_.global_memory_bytes = host.memory_bytes;
  device.info_.max_allocation_bytes = host.memory_bytes;
  device.info_.shares_host_memory = true;
  return device;
}

cl::CommandQueue Device::queue(bool profiling) const {
  const auto lock = setup_lock();
  return {context_, handle_, profiling ? cl::QueueProperties::Profiling : cl::QueueProperties::None};
}

int cap_runtime_threads(int sharers) {
  const int cores = usable_cores();
  const int cap = std::max(1, cores / std::max(1, sharers));
  // A launcher may also have bound each process to cores of its own, which not every runtime looks at.
  if (sharers <= 1 && std::cmp_greater_equal(cores, std::thread::hardware_concurrency())) return 0;
  const std::string text = std::to_string(cap);
  // PoCL, Intel's OpenCL runtime for CPUs and FPGA emulation.
  for (const char* name : {"POCL_MAX_PTHREAD_COUNT", "CL_CONFIG_CPU_TBB_NUM_WORKERS"}) {
    setenv(name, text.c_str(), /*overwrite=*/0);
  }
  return cap;
}

double last_cache_bytes(const DeviceInfo& info) {
  return static_cast<double>(info.is_in_host_memory() ? last_level_cache_bytes() : info.cache_bytes);
}

}  // namespace fabricmark::device
