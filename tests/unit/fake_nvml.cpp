// Stands in for NVIDIA's management library: four GPUs of known power, each with another lack.
#include <cstdint>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;

std::uintptr_t index_of(void* device) { return reinterpret_cast<std::uintptr_t>(device) - 1; }

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 4;
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
  return index == 2 ? kNoPermission : kSuccess;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  *millijoules = 123456;
  return index_of(device) == 0 ? kSuccess : kNotSupported;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned int* milliwatts) {
  *milliwatts = 70500;
  return index_of(device) < 2 ? kSuccess : kNotSupported;
}
}
