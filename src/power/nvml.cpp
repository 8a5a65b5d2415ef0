// GPUs of NVIDIA by the management library of their driver. It is loaded when asked for, so that nothing
// needs it; its functions are declared here after NVIDIA's "NVML API Reference Guide".
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

#include "power/source.hpp"
#include "power/sysfs.hpp"

namespace fabricmark::power {

namespace {

constexpr double kMilli = 1e-3;
constexpr int kNvmlSuccess = 0;
using NvmlDevice = void*;  // nvmlDevice_t, a pointer to what only the library knows

/// The library, initialised as long as anything holds it.
class Nvml {
 public:
  explicit Nvml(void* library) : library_(library) {
    find(init_, "nvmlInit_v2");
    find(shutdown_, "nvmlShutdown");
    find(count, "nvmlDeviceGetCount_v2");
    find(handle, "nvmlDeviceGetHandleByIndex_v2");
    find(milliwatts, "nvmlDeviceGetPowerUsage");
    find(millijoules, "nvmlDeviceGetTotalEnergyConsumption");  // missing in old drivers
    is_ready_ = init_ != nullptr && shutdown_ != nullptr && count != nullptr && handle != nullptr &&
                milliwatts != nullptr && init_() == kNvmlSuccess;
  }
  ~Nvml() {
    if (is_ready_) shutdown_();
    dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] bool is_ready() const { return is_ready_; }

  int (*count)(unsigned int*) = nullptr;
  int (*handle)(unsigned int, NvmlDevice*) = nullptr;
  int (*milliwatts)(NvmlDevice, unsigned int*) = nullptr;
  int (*millijoules)(NvmlDevice, unsigned long long*) = nullptr;

 private:
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;
  bool is_ready_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
};

std::optional<double> read_energy(const Nvml& nvml, NvmlDevice device) {
  unsigned long long value = 0;
  if (nvml.millijoules == nullptr || nvml.millijoules(device, &value) != kNvmlSuccess) return std::nullopt;
  return static_cast<double>(value) * kMilli;
}

std::optional<double> read_power(const Nvml& nvml, NvmlDevice device) {
  unsigned int value = 0;
  if (nvml.milliwatts(device, &value) != kNvmlSuccess) return std::nullopt;
  return static_cast<double>(value) * kMilli;
}

}  // namespace

Source open_nvml() {
  constexpr double kUpdateSeconds = 0.1;
  Source source{"nvml", kUpdateSeconds};
  void* library = dlopen(folder_from("FABRICMARK_NVML", "libnvidia-ml.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return source;
  const auto nvml = std::make_shared<const Nvml>(library);
  unsigned int count = 0;
  if (!nvml->is_ready() || nvml->count(&count) != kNvmlSuccess) {
    source.notes.emplace_back("power: NVIDIA's management library is there but found no driver");
    return source;
  }
  for (unsigned int index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    if (nvml->handle(index, &device) != kNvmlSuccess) continue;
    const std::string name = fmt::format("gpu-{}", index);
    // The counter (since the generation Volta) misses nothing between two samples; the power may.
    if (read_energy(*nvml, device)) {
      source.domains.push_back(
          {name, Quantity::kEnergy, 0, [nvml, device] { return read_energy(*nvml, device); }});
    } else if (read_power(*nvml, device)) {
      source.domains.push_back(
          {name, Quantity::kPower, 0, [nvml, device] { return read_power(*nvml, device); }});
    }
  }
  return source;
}

}  // namespace fabricmark::power
