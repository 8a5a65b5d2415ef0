#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/device_class.hpp"
#include "device/guards.hpp"
#include "device/queue.hpp"
#include "device/simulated.hpp"

namespace fabricmark::device {

/// What OpenCL says of a device. Sizes in bytes.
struct DeviceInfo {
  std::string platform;
  std::string platform_version;
  std::string name;
  std::string vendor;
  std::string driver;
  DeviceClass device_class = DeviceClass::kCpu;
  int platform_index = 0;
  int device_index = 0;  ///< within its platform, whatever was selected: with its index it names one device
  std::uint64_t compute_units = 0;
  std::uint64_t kernel_threads = 1;  ///< of an emulator, each of which runs a kernel at the same time
  std::uint64_t global_memory_bytes = 0;
  std::uint64_t max_allocation_bytes = 0;
  std::uint64_t local_memory_bytes = 0;
  std::uint64_t cache_bytes = 0;  ///< in front of the global memory; 0 where there is none
  std::uint64_t max_work_group_size = 1;
  std::uint64_t sub_buffer_alignment_bytes = 128;
  /// Compute capability times ten whose matrix units kernels may use by inline PTX, and 91
  /// (opencl/nvidia.hpp); 0: none.
  std::uint64_t matrix_units = 0;
  bool has_half = false;
  bool has_double = false;
  bool has_svm = false;
  bool has_peer_memory = false;  ///< that other GPUs of the host reach (MemoryKind::kPeer)
  bool shares_host_memory = false;
  bool has_memory_objects = true;  ///< handles of its memory that other libraries may take, as OpenCL's
  bool is_dry_run = false;         ///< allocates and computes nothing (dry_run.hpp)
  /// A board in all that a program sees of it, which its maker's runtime emulates on the host (XRT under
  /// XCL_EMULATION_MODE).
  bool is_emulated_board = false;
  /// By which of its interfaces XRT is spoken to, and why, where the program has chosen it; else empty.
  std::string interface_note;
  /// True where the device's memory is the host's, and its copies run on the host's cores.
  [[nodiscard]] bool is_in_host_memory() const {
    return device_class == DeviceClass::kCpu || device_class == DeviceClass::kEmulator;
  }
  /// True where the wall clock says nothing about hardware (Intel's FPGA emulator, the dry-run device, boards
  /// that XRT emulates).
  [[nodiscard]] bool emulated() const {
    return device_class == DeviceClass::kEmulator || is_dry_run || is_emulated_board;
  }
  /// How many kernels that wait for each other it runs at the same time for certain: on an FPGA each has its
  /// own circuits, on its emulator a thread; others may run one after the other.
  [[nodiscard]] std::uint64_t kernels_at_once() const {
    if (device_class == DeviceClass::kFpga) return std::numeric_limits<std::uint64_t>::max();
    return device_class == DeviceClass::kEmulator ? kernel_threads : 1;
  }
  [[nodiscard]] bool is_of_pocl() const {
    return platform.find("Portable Computing Language") != std::string::npos;
  }
  /// Whether SYCL's runtime has it, which OpenCL's stands behind.
  [[nodiscard]] bool is_of_sycl() const { return platform.starts_with("SYCL: "); }
  /// By its platform and vendor, which may have its new name.
  [[nodiscard]] bool is_of_xilinx() const {
    const std::string makers = platform + " " + vendor;
    return makers.find("Xilinx") != std::string::npos || makers.find("AMD") != std::string::npos;
  }
  /// A board under AMD's XRT, whose OpenCL has ways of its own.
  [[nodiscard]] bool is_of_xrt() const { return device_class == DeviceClass::kFpga && is_of_xilinx(); }
  /// The same under XRT's own interface (xrt/): the host sees all of its buffers.
  [[nodiscard]] bool is_native_xrt() const { return is_of_xrt() && !has_memory_objects; }
};

/// Bytes of the last-level cache in front of a device's memory; 0 where nothing says. A CPU's runtime knows
/// less of its caches than the system does.
double last_cache_bytes(const DeviceInfo& info);

/// Whether a platform or device says that it emulates another one.
bool names_emulation(const std::string& text);

/// Which devices may be used. A filter is an index, of a device within its platform, or a part of the name,
/// in any case.
struct Selection {
  std::optional<std::string> platform;
  std::optional<std::string> device;
  std::vector<int> mapping;  ///< FPGA_MAPPING: device index of each local rank; empty: one after another
  /// opencl or xrt; empty: what FABRICMARK_BACKEND and FABRICMARK_SYCL say, and where neither does, XRT for
  /// an .xclbin where it is there (xrt::interface_for).
  std::string backend = {};
  std::filesystem::path bitstream = {};  ///< that will be loaded; empty where none is
};

/// Reads "2:0:3". Throws Error (bad use) on anything but indices separated by colons, and where one stands
/// twice.
std::vector<int> parse_mapping(const std::string& text);
/// What FPGA_MAPPING says; empty where it is not set. Throws as parse_mapping.
std::vector<int> mapping_of_environment();

/// Parts of one device that several ranks of this process use at the same time.
struct Share {
  int index = 0;
  int count = 1;
};

/// Opens a device, or a part of it; `info` is what is known of it, and is corrected for the part.
using Open = std::function<std::shared_ptr<const backend::Device>(const Share& share, DeviceInfo& info)>;

struct FoundDevice {
  DeviceInfo info;
  Open open;
};

/// The devices of one platform of a runtime.
struct FoundPlatform {
  std::string name;
  std::vector<FoundDevice> devices;
};

/// Every device that matches, in the order of the platforms; empty where there is none. Throws Error (bad
/// use) when a filter matches nothing although there are devices, and for an index of a device that several
/// platforms have.
std::vector<FoundDevice> find_devices(const Selection& selection);

/// The same where a device is needed: throws Error (environment) when there is none at all.
std::vector<FoundDevice> require_devices(const Selection& selection);

/// The position in `devices` of the device of local rank `local_rank`.
std::size_t mapped_device(const Selection& selection, std::size_t devices, int local_rank);

/// An opened device: a context on it, or on a part of it where ranks of one process share a CPU.
class Device {
 public:
  explicit Device(const FoundDevice& found, Share share = {});
  /// What stands for a device where none is needed and none was found: the host's processor, on the platform
  /// "none". Nothing can be built for it, and it has no memory and no queues.
  static Device none();
  [[nodiscard]] bool exists() const { return implementation_ != nullptr; }

  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  /// With `profiling`, the events of its commands carry times.
  [[nodiscard]] Queue queue(bool profiling = false) const { return Queue(implementation_->queue(profiling)); }
  /// One whose commands run as they can (an out-of-order queue); absent where the runtime has none.
  [[nodiscard]] std::optional<Queue> unordered_queue(bool profiling = false) const {
    const std::shared_ptr<backend::Queue> queue = implementation_->unordered_queue(profiling);
    return queue ? std::optional(Queue(queue)) : std::nullopt;
  }
  /// One whose commands are simulated by who gives them, where a clock is simulated.
  [[nodiscard]] Queue untimed_queue() const {
    const std::shared_ptr<backend::Queue> queue = implementation_->queue(/*profiling=*/false);
    queue->stop_timing();
    return Queue(queue);
  }
  /// From here on its commands are simulated (simulated.hpp).
  void simulate(std::shared_ptr<const CommandCosts> costs, SimulatedClock& clock, Moving moving);
  [[nodiscard]] const backend::Device& implementation() const { return *implementation_; }
  /// Of its buffers; none are made before Guards::begin.
  [[nodiscard]] Guards& guards() const { return *guards_; }

 private:
  Device() = default;

  DeviceInfo info_;
  std::shared_ptr<const backend::Device> implementation_;
  std::shared_ptr<Guards> guards_ = std::make_shared<Guards>();
};

/// Caps the threads that a CPU runtime starts at the cores of this process, which `sharers` processes have.
/// Must come before the first OpenCL call, where looking for devices does it for one; a variable that the
/// user has set is left alone. Returns the cap, 0 for none: a process may use all cores alone.
int cap_runtime_threads(int sharers);

}  // namespace fabricmark::device
