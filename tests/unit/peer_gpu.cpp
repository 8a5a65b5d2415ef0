// To be preloaded (LD_PRELOAD): a device of OpenCL that takes memory of CUDA's driver, and such a driver in
// the place of libcuda.so.1, whose name this library has. Memory that processes share is a file without a
// name. FABRICMARK_PEER_GPU says what goes wrong: "missing" (no driver), "other" (it knows other GPUs),
// "full" (no memory), "apart" (no GPU reaches another one's), "lost" (copies move nothing), "endless" (they
// do not end).
#include <CL/cl.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t kGranule = std::size_t{1} << 16;
constexpr unsigned long long kImported = 1ULL << 32;  // of a handle, beside the number of its file
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kNotInitialised = 3, kUnknown = 999, kNotReady = 600;
constexpr cl_device_info kDeviceUuid = 0x106A;
constexpr cl_ulong kOpaqueFile = 0x2060;
constexpr std::array<unsigned char, 16> kUuid{0xFA, 0xB0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is(const char* wrong) {
  const char* const said = std::getenv("FABRICMARK_PEER_GPU");
  return said != nullptr && std::strcmp(said, wrong) == 0;
}

void* at(unsigned long long address) { return reinterpret_cast<void*>(address); }

struct Mapped {
  void* start;
  std::size_t bytes;
};

void CL_CALLBACK unmap(cl_mem /*memory*/, void* data) {
  auto* const mapped = static_cast<Mapped*>(data);
  munmap(mapped->start, mapped->bytes);
  delete mapped;
}

// As NVIDIA's runtime, which never ends where an object that it has acquired is not given back.
std::atomic<int> acquired{0};
cl_int acquire(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) {
  ++acquired;
  return CL_SUCCESS;
}
cl_int release(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) {
  --acquired;
  return CL_SUCCESS;
}

}  // namespace

extern "C" {

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t size, void* value,
                       std::size_t* needed) {
  static auto* const next = below<decltype(clGetDeviceInfo)>("clGetDeviceInfo");
  if (what == kDeviceUuid) {
    if (value != nullptr) std::memcpy(value, kUuid.data(), kUuid.size());
    return CL_SUCCESS;
  }
  if (what != CL_DEVICE_EXTENSIONS) return next(device, what, size, value, needed);
  std::size_t bytes = 0;
  if (const cl_int code = next(device, what, 0, nullptr, &bytes); code != CL_SUCCESS) return code;
  std::string text(bytes, '\0');
  next(device, what, bytes, text.data(), nullptr);
  text = std::string(text.c_str()) + " cl_khr_device_uuid cl_khr_external_memory_opaque_fd";
  if (needed != nullptr) *needed = text.size() + 1;
  if (value != nullptr) std::memcpy(value, text.c_str(), text.size() + 1);
  return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context context) {
  static auto* const next = below<decltype(clReleaseContext)>("clReleaseContext");
  cl_uint uses = 0;
  clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(uses), &uses, nullptr);
  while (uses == 1 && acquired > 0) pause();
  return next(context);
}

void* clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
  static auto* const next =
      below<decltype(clGetExtensionFunctionAddressForPlatform)>("clGetExtensionFunctionAddressForPlatform");
  if (std::strcmp(name, "clEnqueueAcquireExternalMemObjectsKHR") == 0)
    return reinterpret_cast<void*>(acquire);
  if (std::strcmp(name, "clEnqueueReleaseExternalMemObjectsKHR") == 0)
    return reinterpret_cast<void*>(release);
  return next(platform, name);
}

// Takes the descriptor, as the extension says.
cl_mem clCreateBufferWithProperties(cl_context context, const cl_ulong* properties, cl_mem_flags flags,
                                    std::size_t bytes, void* /*host*/, cl_int* code) {
  if (properties == nullptr || properties[0] != kOpaqueFile || properties[2] != 0) {
    *code = CL_INVALID_VALUE;
    return nullptr;
  }
  const int file = static_cast<int>(properties[1]);
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  cl_mem memory = clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, bytes, start, code);
  if (*code == CL_SUCCESS) clSetMemObjectDestructorCallback(memory, unmap, new Mapped{start, bytes});
  return memory;
}

int cuInit(unsigned) { return is("missing") ? kNotInitialised : 0; }
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetUuid(void* uuid, int) {
  std::memcpy(uuid, kUuid.data(), kUuid.size());
  if (is("other")) static_cast<unsigned char*>(uuid)[0] = 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int own = 0;
  *context = &own;
  return 0;
}
int cuCtxSetCurrent(void* context) { return context == nullptr ? kUnknown : 0; }
int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_OF_THE_TEST";
  return 0;
}

int cuMemGetAllocationGranularity(std::size_t* bytes, const void*, int) {
  *bytes = kGranule;
  return 0;
}
int cuMemCreate(unsigned long long* handle, std::size_t bytes, const void*, unsigned long long) {
  if (is("full")) return kOutOfMemory;
  const int file = memfd_create("peer", MFD_CLOEXEC);
  if (file < 0 || bytes % kGranule != 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return kUnknown;
  *handle = static_cast<unsigned long long>(file);
  return 0;
}
int cuMemRelease(unsigned long long handle) { return close(static_cast<int>(handle)) == 0 ? 0 : kUnknown; }
int cuMemAddressReserve(unsigned long long* address, std::size_t bytes, std::size_t, unsigned long long,
                        unsigned long long) {
  void* const start = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *address = reinterpret_cast<std::uintptr_t>(start);
  return start == MAP_FAILED ? kUnknown : 0;
}
int cuMemAddressFree(unsigned long long address, std::size_t bytes) {
  return munmap(at(address), bytes) == 0 ? 0 : kUnknown;
}
int cuMemMap(unsigned long long address, std::size_t bytes, std::size_t, unsigned long long handle,
             unsigned long long) {
  struct stat found {};
  const int file = static_cast<int>(handle);
  if (fstat(file, &found) != 0 || static_cast<std::size_t>(found.st_size) != bytes) return kUnknown;
  return mmap(at(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED ? kUnknown : 0;
}
int cuMemUnmap(unsigned long long address, std::size_t bytes) {
  void* const start =
      mmap(at(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return start == MAP_FAILED ? kUnknown : 0;
}
int cuMemSetAccess(unsigned long long address, std::size_t bytes, const void*, std::size_t) {
  return mprotect(at(address), bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : kUnknown;
}
// As NVIDIA's driver, of nothing that was imported.
int cuMemExportToShareableHandle(void* file, unsigned long long handle, int, unsigned long long) {
  if ((handle & kImported) != 0) return kInvalidValue;
  const int number = dup(static_cast<int>(handle));
  std::memcpy(file, &number, sizeof(number));
  return number < 0 ? kUnknown : 0;
}
int cuMemImportFromShareableHandle(unsigned long long* handle, void* file, int) {
  if (is("apart")) return kUnknown;
  const int number = dup(static_cast<int>(reinterpret_cast<std::intptr_t>(file)));
  *handle = static_cast<unsigned long long>(number) | kImported;
  return number < 0 ? kUnknown : 0;
}

int cuStreamCreate(void** stream, unsigned) {
  *stream = new int(0);
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  delete static_cast<int*>(stream);
  return 0;
}
int cuStreamSynchronize(void*) { return 0; }
int cuMemcpyAsync(unsigned long long to, unsigned long long from, std::size_t bytes, void*) {
  if (!is("lost")) std::memcpy(at(to), at(from), bytes);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = new int(0);
  return 0;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<int*>(event);
  return 0;
}
// An event is the number of looks until it has come.
int cuEventRecord(void* event, void*) {
  constexpr int kLooks = 3;
  *static_cast<int*>(event) = kLooks;
  return 0;
}
int cuEventQuery(void* event) {
  if (is("endless")) return kNotReady;
  int& left = *static_cast<int*>(event);
  return left > 0 && left-- > 0 ? kNotReady : 0;
}

}  // extern "C"
