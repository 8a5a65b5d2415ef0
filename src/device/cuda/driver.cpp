#include "device/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

#include "base/error.hpp"

namespace fabricmark::device::cuda {

namespace {

class Functions {
 public:
  explicit Functions(void* library) : library_(library) {}
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    has_all_ = has_all_ && function != nullptr;
  }
  [[nodiscard]] bool has_all() const { return has_all_; }

 private:
  void* library_;
  bool has_all_ = true;
};

std::optional<Driver> load() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Driver found;
  Functions functions(library);
  functions.find(found.init, "cuInit");
  functions.find(found.device_count, "cuDeviceGetCount");
  functions.find(found.device, "cuDeviceGet");
  functions.find(found.device_uuid, "cuDeviceGetUuid");
  functions.find(found.retain_context, "cuDevicePrimaryCtxRetain");
  functions.find(found.set_context, "cuCtxSetCurrent");
  functions.find(found.granularity, "cuMemGetAllocationGranularity");
  functions.find(found.create, "cuMemCreate");
  functions.find(found.release, "cuMemRelease");
  functions.find(found.reserve, "cuMemAddressReserve");
  functions.find(found.free_address, "cuMemAddressFree");
  functions.find(found.map, "cuMemMap");
  functions.find(found.unmap, "cuMemUnmap");
  functions.find(found.set_access, "cuMemSetAccess");
  functions.find(found.export_memory, "cuMemExportToShareableHandle");
  functions.find(found.import_memory, "cuMemImportFromShareableHandle");
  functions.find(found.create_stream, "cuStreamCreate");
  functions.find(found.destroy_stream, "cuStreamDestroy_v2");
  functions.find(found.synchronize, "cuStreamSynchronize");
  functions.find(found.copy, "cuMemcpyAsync");
  functions.find(found.create_event, "cuEventCreate");
  functions.find(found.destroy_event, "cuEventDestroy_v2");
  functions.find(found.record, "cuEventRecord");
  functions.find(found.query, "cuEventQuery");
  functions.find(found.error_name, "cuGetErrorName");
  if (!functions.has_all() || found.init(0) != kSuccess) return std::nullopt;
  return found;
}

}  // namespace

const Driver* driver() {
  static const std::optional<Driver> loaded = load();
  return loaded ? &*loaded : nullptr;
}

void check(Status status, const char* call) {
  if (status == kSuccess) return;
  const char* name = nullptr;
  if (driver()->error_name(status, &name) != kSuccess || name == nullptr) name = "an unknown error";
  throw environment_failure(fmt::format("{} failed with {}", call, name),
                            "see `nvidia-smi` for what the GPU says, or use --transport host");
}

}  // namespace fabricmark::device::cuda
