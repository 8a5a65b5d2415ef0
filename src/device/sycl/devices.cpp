#include "device/sycl/devices.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/memory.hpp"
#include "device/sycl/sycl.hpp"

namespace fabricmark::device::sycl {

namespace {

constexpr const char* kRemedy = "run `fabricmark runtimes install sycl`, or unset FABRICMARK_SYCL";

Error cannot_load(const std::string& file, const std::string& why) {
  return environment_failure("the SYCL plugin '" + file + "' cannot be used: " + why, kRemedy);
}

/// Never closed: SYCL's library ends with the process.
const plugin::Functions& loaded(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw cannot_load(file, why != nullptr ? why : "the system does not say why");
  }
  const auto entry = reinterpret_cast<plugin::Entry>(dlsym(library, plugin::kEntry));
  if (entry == nullptr) throw cannot_load(file, std::string("it has no ") + plugin::kEntry);
  const plugin::Functions* const functions = entry();
  if (functions->version != plugin::kVersion) {
    throw cannot_load(file, "its interface is version " + std::to_string(functions->version) + ", not " +
                                std::to_string(plugin::kVersion));
  }
  return *functions;
}

DeviceClass classify(const plugin::DeviceFacts& facts) {
  if (names_emulation(facts.platform) || names_emulation(facts.name)) return DeviceClass::kEmulator;
  switch (facts.kind) {
    case plugin::kGpu:
      return DeviceClass::kGpu;
    case plugin::kCpu:
      return DeviceClass::kCpu;
    default:
      return DeviceClass::kFpga;
  }
}

DeviceInfo describe(const plugin::DeviceFacts& facts) {
  DeviceInfo info;
  info.platform = std::string("SYCL: ") + facts.platform;
  info.platform_version = facts.platform_version;
  info.name = facts.name;
  info.vendor = facts.vendor;
  info.driver = facts.driver;
  info.device_class = classify(facts);
  info.compute_units = facts.compute_units;
  info.global_memory_bytes = facts.global_memory_bytes;
  info.max_allocation_bytes = facts.max_allocation_bytes;
  info.local_memory_bytes = facts.local_memory_bytes;
  info.cache_bytes = facts.cache_bytes;
  info.max_work_group_size = facts.max_work_group_size;
  info.sub_buffer_alignment_bytes = std::max<std::uint64_t>(1, facts.alignment_bytes);
  info.has_half = facts.has_half != 0;
  info.has_double = facts.has_double != 0;
  info.has_svm = facts.has_shared_memory != 0;
  info.shares_host_memory = facts.shares_host_memory != 0;
  info.has_memory_objects = false;
  return info;
}

plugin::MemoryKind usm_kind(MemoryKind kind) {
  // Memory that other GPUs reach is none that its devices offer.
  constexpr std::array kKinds{plugin::kDeviceMemory, plugin::kHostMemory, plugin::kSharedMemory,
                              plugin::kDeviceMemory};
  return kKinds.at(static_cast<std::size_t>(kind));
}

class OpenedDevice : public backend::Device {
 public:
  OpenedDevice(DeviceInfo info, Opened on) : info_(std::move(info)), on_(std::move(on)) {}
  [[nodiscard]] std::shared_ptr<backend::Queue> queue(bool profiling) const override {
    const auto lock = setup_lock();
    return std::make_shared<Queue>(on_, profiling);
  }
  /// A board has the bank that the library of kernels names for the argument; else SYCL has no word for
  /// banks.
  [[nodiscard]] std::shared_ptr<backend::Memory> allocate(std::size_t bytes, MemoryKind kind,
                                                          const Placement& placement) const override {
    const plugin::MemoryKind usm = usm_kind(kind);
    const std::int32_t location = placement.kernel != nullptr
                                      ? location_of(*placement.kernel, placement.argument)
                                      : plugin::kUsualMemory;
    if (location != plugin::kUsualMemory && usm != plugin::kDeviceMemory) {
      throw bad_use("the kernels are linked to numbered memories of the board, which the host does not share",
                    "use --memory buffer");
    }
    std::shared_ptr<std::byte> memory = sycl::allocate(on_, info_.name, bytes, usm, location);
    if (info_.is_in_host_memory()) ask_for_huge_pages(memory.get(), bytes);
    return std::make_shared<Memory>(on_, std::move(memory), bytes, usm, location);
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) const override {
    return sycl::allocate(on_, info_.name, bytes, plugin::kHostMemory);
  }
  [[nodiscard]] std::shared_ptr<void> pin(std::span<std::byte> pages) const override {
    if (info_.is_in_host_memory()) return nullptr;  // which reaches them as they are
    throw environment_failure(
        "SYCL does not pin " + std::to_string(pages.size()) + " bytes of the host that it did not allocate",
        "use OpenCL for this device");
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> build(const std::string& source,
                                                              const std::string& options) const override {
    return sycl::build(on_, source, options);
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> load(const std::string& binary) const override {
    return sycl::load(on_, binary);
  }

 private:
  DeviceInfo info_;
  Opened on_;
};

Open opener(const plugin::Functions& functions, std::size_t index) {
  return [&functions, index](const Share& share, DeviceInfo& info) {
    plugin::Device* opened = nullptr;
    check(functions, functions.open(index, share.index, share.count, &opened, &info.compute_units),
          "to open the device");
    return std::make_shared<const OpenedDevice>(
        info, Opened{&functions, std::shared_ptr<plugin::Device>(opened, functions.close)});
  };
}

}  // namespace

bool is_wanted() { return !environment(kPluginVariable).empty(); }

std::vector<FoundPlatform> platforms() {
  const std::string file = environment(kPluginVariable);
  const plugin::Functions& functions = loaded(file);
  std::size_t count = 0;
  if (functions.count_devices(&count) != plugin::kDone) throw cannot_load(file, last_words(functions));
  std::vector<FoundPlatform> found;
  for (std::size_t index = 0; index < count; ++index) {
    plugin::DeviceFacts facts{};
    if (functions.describe(index, &facts) != plugin::kDone) throw cannot_load(file, last_words(functions));
    DeviceInfo info = describe(facts);
    if (found.empty() || found.back().name != info.platform) found.push_back({info.platform, {}});
    found.back().devices.push_back({std::move(info), opener(functions, index)});
  }
  return found;
}

}  // namespace fabricmark::device::sycl
