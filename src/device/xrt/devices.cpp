#include "device/xrt/devices.hpp"

#include <map>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/xclbin.hpp"
#include "device/xrt/xrt.hpp"

namespace fabricmark::device::xrt {

namespace {

constexpr std::size_t kAlignment = 4096;
constexpr const char* kPlatform = "XRT";

/// Ranks of one process share it: XRT ends the process where a device is closed that another one has open.
/// With the set-up lock.
std::shared_ptr<void> opened(unsigned index) {
  static std::map<unsigned, std::weak_ptr<void>> known;
  if (std::shared_ptr<void> found = known[index].lock()) return found;
  void* const device = library().open(index);
  if (device == nullptr) {
    throw environment_failure(
        "XRT cannot open its device " + std::to_string(index) + " (" + last_words() + ")",
        "see what it printed, or choose another one with --device");
  }
  const std::shared_ptr<void> found(device, [](void* one) {
    const auto lock = setup_lock();  // XRT's emulation ends the process where another device is loaded then
    static_cast<void>(library().close(one));
  });
  known[index] = found;
  return found;
}

/// `said`: of its memories by the bitstream, for drivers that say nothing of them.
DeviceInfo describe(unsigned index, std::size_t said) {
  const std::shared_ptr<void> device = opened(index);
  const auto [name, memory_bytes] = facts_of(device.get());
  DeviceInfo info;
  info.platform = kPlatform;
  info.platform_version = library().version;
  info.driver = library().version;
  info.vendor = "Xilinx";
  info.name = name;
  info.device_class = DeviceClass::kFpga;
  info.compute_units = 1;
  info.global_memory_bytes = memory_bytes > 0 ? memory_bytes : said;
  info.max_allocation_bytes = info.global_memory_bytes;
  info.sub_buffer_alignment_bytes = kAlignment;
  info.has_half = true;
  info.has_double = true;
  info.has_memory_objects = false;
  info.has_peer_memory = true;
  info.is_emulated_board = emulates();
  return info;
}

class OpenedDevice : public backend::Device {
 public:
  explicit OpenedDevice(Opened on) : on_(std::move(on)) {}
  [[nodiscard]] std::shared_ptr<backend::Queue> queue(bool /*profiling*/) const override {
    return std::make_shared<Queue>();
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> allocate(std::size_t bytes, MemoryKind kind,
                                                          const Placement& placement) const override {
    if (kind == MemoryKind::kSvm)
      throw bad_use("XRT natively has no shared virtual memory", "use --memory buffer, host-pointer or peer");
    int group = -1;
    if (placement.kernel != nullptr && !placement.is_spread)
      group = group_of(*placement.kernel, placement.argument);
    else if (const int bank = placement.memory.within(placement.bank); bank >= 0)
      group = bank + placement.memory.index_offset;
    return xrt::allocate(on_, bytes, kind, group);
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) const override {
    return {static_cast<std::byte*>(allocate_pages(bytes)), release_pages};
  }
  /// XRT pins none: its own copies go through memory that it has pinned.
  [[nodiscard]] std::shared_ptr<void> pin(std::span<std::byte> /*pages*/) const override { return nullptr; }
  [[nodiscard]] std::shared_ptr<const backend::Program> build(const std::string& /*source*/,
                                                              const std::string& /*options*/) const override {
    refuse_sources(on_.info);
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> load(const std::string& binary) const override {
    return xrt::load(on_, binary);
  }
  [[nodiscard]] void* driver_handle() const override { return library().driver_handle(on_.device.get()); }

 private:
  Opened on_;
};

}  // namespace

bool is_wanted(const std::string& backend) {
  if (!backend.empty()) return backend == "xrt";
  const std::string given = environment(kBackendVariable);
  if (given.empty() || given == "opencl") return false;
  if (given != "xrt")
    throw bad_use(std::string(kBackendVariable) + "=" + given + " is no backend", "use opencl or xrt");
  return true;
}

Interface interface_for(const Selection& selection) {
  const bool is_named = !selection.backend.empty() || !environment(kBackendVariable).empty();
  if (is_named || selection.bitstream.extension() != ".xclbin") return {is_wanted(selection.backend), ""};
  if (selection.platform) return {*selection.platform == kPlatform, ""};
  try {
    static_cast<void>(library());
  } catch (const Error& error) {
    return {false, "OpenCL speaks to the board of the .xclbin: natively, " + error.cause()};
  }
  return {true, "XRT speaks to the board of the .xclbin by its own interface; --backend opencl by OpenCL"};
}

bool emulates() { return !environment("XCL_EMULATION_MODE").empty(); }

void refuse_sources(const DeviceInfo& info) {
  throw bad_use("AMD's runtime takes no kernel sources for " + info.name,
                "give a bitstream with --bitstream (`fabricmark build` makes one)");
}

std::vector<FoundPlatform> platforms(const std::filesystem::path& bitstream) {
  const bool is_needed = library().facts == nullptr && !bitstream.empty();
  const std::size_t said = is_needed ? memory_bytes_of_xclbin(bitstream_content(bitstream)) : 0;
  std::vector<FoundPlatform> found{{kPlatform, {}}};
  const unsigned count = library().count_devices();
  for (unsigned index = 0; index < count; ++index) {
    found.front().devices.push_back(
        {describe(index, said), [index](const Share& /*share*/, DeviceInfo& info) {
           return std::make_shared<const OpenedDevice>(Opened{.device = opened(index), .info = info});
         }});
  }
  return found;
}

}  // namespace fabricmark::device::xrt
