#include "device/device.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/crash_line.hpp"
#include "device/dry_run.hpp"
#include "device/folders.hpp"
#include "device/opencl/devices.hpp"
#include "device/sycl/devices.hpp"
#include "device/xrt/devices.hpp"

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

/// "--platform 0 --device 1": what chooses this device alone.
std::string place_of(const DeviceInfo& info) {
  return "--platform " + std::to_string(info.platform_index) + " --device " +
         std::to_string(info.device_index);
}

/// An index counts within a platform: where several have it, one of them may not be the one that was meant.
void check_is_one(const Selection& selection, const std::vector<FoundDevice>& found) {
  if (!selection.device || !is_index(*selection.device) || found.size() < 2) return;
  std::string places;
  for (const FoundDevice& one : found) places += (places.empty() ? "" : " or ") + place_of(one.info);
  throw bad_use(std::to_string(found.size()) + " platforms have a device " + *selection.device,
                "name one: " + places + " (--list-devices)");
}

/// Whether a file lies in one of the folders of a list with colons.
bool is_below_any(const std::string& file, const std::string& list) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::istringstream folders(list);
  for (std::string one; std::getline(folders, one, ':');) {
    if (std::filesystem::equivalent(folder, one.empty() ? "." : one, ignored)) return true;
  }
  return false;
}

/// Whether the loader was told to load Intel's FPGA emulator.
bool is_for_emulator() {
  for (const char* variable : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"}) {
    if (environment(variable).find("intelocl_emu") != std::string::npos) return true;
  }
  return false;
}

/// Of SYCL there is no choice to make, as its variable has made it.
xrt::Interface interface_for(const Selection& selection) {
  if (!sycl::is_wanted()) return xrt::interface_for(selection);
  if (!selection.backend.empty()) {
    throw bad_use("--backend " + selection.backend + ", but FABRICMARK_SYCL chooses SYCL",
                  "unset it, or leave out --backend");
  }
  return {xrt::is_wanted(""), ""};
}

std::vector<FoundPlatform> loaded_platforms(const xrt::Interface& of_xrt,
                                            const std::filesystem::path& bitstream) {
  const CrashLine line("the OpenCL runtimes were loaded");
  if (of_xrt.is_native) return xrt::platforms(bitstream);
  return sycl::is_wanted() ? sycl::platforms() : opencl::platforms();
}

/// Of a loader that finds no device: which one it is, where it may be another one than the programs were
/// linked with.
Error no_device() {
  const std::string loader = opencl_loader();
  const std::string path = environment("LD_LIBRARY_PATH");
  const bool is_from_path = !path.empty() && !loader.empty() && is_below_any(loader, path);
  const std::optional<std::string> trouble = trouble_with_pocl_cache();
  const std::string cause = "no OpenCL device was found by '" + loader + "'";
  if (trouble && !is_from_path) {
    return environment_failure(cause + "; where PoCL is installed, " + *trouble,
                               "name a folder that can be written with POCL_CACHE_DIR");
  }
  if (is_from_path) {
    return environment_failure(
        cause + ", which comes from LD_LIBRARY_PATH",
        "unset LD_LIBRARY_PATH, or name a folder there whose libOpenCL.so.1 is a loader");
  }
  return environment_failure(cause + " with " + vendors_text(),
                             "install a runtime (Debian: pocl-opencl-icd) or set OCL_ICD_VENDORS");
}

}  // namespace

bool names_emulation(const std::string& text) { return lower(text).find("emulation") != std::string::npos; }

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
    const int index = std::stoi(item);
    if (std::ranges::find(mapping, index) != mapping.end()) {
      throw bad_use("FPGA_MAPPING='" + text + "' gives device " + item + " to two ranks",
                    "name each device once; without the variable ranks share devices");
    }
    mapping.push_back(index);
    start = end + 1;
  }
  return mapping;
}

std::vector<int> mapping_of_environment() {
  const std::string mapping = environment("FPGA_MAPPING");
  return mapping.empty() ? std::vector<int>{} : parse_mapping(mapping);
}

std::vector<FoundDevice> find_devices(const Selection& asked) {
  Selection selection = asked;
  if (selection.platform && lower(*selection.platform) == kOldDryRunPlatform)
    selection.platform = kDryRunPlatform;
  const auto lock = setup_lock();
  cap_runtime_threads(1);  // unless processes that share their cores have said so before
  std::vector<FoundDevice> found;
  std::string seen;
  int platform_index = 0;
  prepare_pocl_cache();
  const xrt::Interface of_xrt = interface_for(selection);
  std::vector<FoundPlatform> platforms = loaded_platforms(of_xrt, selection.bitstream);
  if (selection.platform && lower(*selection.platform) == kDryRunPlatform)
    platforms.push_back(dry_run_platform());
  for (const FoundPlatform& platform : platforms) {
    const bool platform_matches = matches(selection.platform, platform_index, platform.name);
    int device_index = 0;
    for (FoundDevice device : platform.devices) {
      device.info.platform_index = platform_index;
      device.info.device_index = device_index;
      device.info.interface_note = of_xrt.note;
      seen += (seen.empty() ? "'" : ", '") + device.info.platform + ": " + device.info.name + "' (" +
              place_of(device.info) + ")";
      if (platform_matches && matches(selection.device, device_index, device.info.name))
        found.push_back(std::move(device));
      ++device_index;
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
  check_is_one(selection, found);
  return found;
}

std::vector<FoundDevice> require_devices(const Selection& selection) {
  std::vector<FoundDevice> found = find_devices(selection);
  if (!found.empty()) return found;
  if (interface_for(selection).is_native) {
    throw environment_failure("XRT found no board", "see `xbutil examine`, or use --backend opencl");
  }
  if (sycl::is_wanted()) {
    throw environment_failure(
        "SYCL found no device of an OpenCL runtime with unified shared memory",
        "set OCL_ICD_VENDORS to such a runtime, as `fabricmark run --runtime sycl` does");
  }
  throw no_device();
}

std::size_t mapped_device(const Selection& selection, std::size_t devices, int local_rank) {
  if (selection.mapping.empty()) return static_cast<std::size_t>(local_rank) % devices;
  if (std::cmp_greater_equal(local_rank, selection.mapping.size())) {
    throw bad_use("FPGA_MAPPING names " + std::to_string(selection.mapping.size()) +
                      " devices, and none for local rank " + std::to_string(local_rank),
                  "name one for each rank of a host");
  }
  const int index = selection.mapping[static_cast<std::size_t>(local_rank)];
  if (std::cmp_greater_equal(index, devices)) {
    throw bad_use("FPGA_MAPPING names device " + std::to_string(index) + " but only " +
                      std::to_string(devices) + " match",
                  "use indices from 0 to " + std::to_string(devices - 1) + " (--list-devices)");
  }
  return static_cast<std::size_t>(index);
}

Device::Device(const FoundDevice& found, Share share) : info_(found.info) {
  const auto lock = setup_lock();
  implementation_ = found.open(share, info_);
}

void Device::simulate(std::shared_ptr<const CommandCosts> costs, SimulatedClock& clock, Moving moving) {
  if (exists()) implementation_ = simulated(std::move(implementation_), std::move(costs), clock, moving);
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

std::unique_lock<std::recursive_mutex> setup_lock() {
  static std::recursive_mutex mutex;
  return std::unique_lock(mutex);
}

int cap_runtime_threads(int sharers) {
  const auto lock = setup_lock();
  const int cores = usable_cores();
  const int cap = std::max(1, cores / std::max(1, sharers));
  // Not every runtime looks at the mask of its process, and none at quotas.
  if (sharers <= 1 && cores >= machine_cores()) return 0;
  const std::string text = std::to_string(cap);
  setenv("POCL_MAX_PTHREAD_COUNT", text.c_str(), /*overwrite=*/0);
  // Intel's OpenCL for CPUs. Its FPGA emulator has threads for kernels that wait for each other, however few
  // the cores are.
  if (!is_for_emulator()) setenv("CL_CONFIG_CPU_TBB_NUM_WORKERS", text.c_str(), /*overwrite=*/0);
  return cap;
}

double last_cache_bytes(const DeviceInfo& info) {
  return static_cast<double>(info.is_in_host_memory() ? last_level_cache_bytes() : info.cache_bytes);
}

}  // namespace fabricmark::device
