// To be preloaded (LD_PRELOAD): a device with the limits that FABRICMARK_LIMITED says, such as
// "gpu,units=384,local=1024,work-items=1" or "xilinx", and that keeps to them: it refuses larger work-groups,
// and kernels that need more local memory.
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The number behind "name=" in the variable; `usual` where it is not there.
std::size_t told(const char* name, std::size_t usual) {
  const char* const all = std::getenv("FABRICMARK_LIMITED");
  const char* const found = all == nullptr ? nullptr : std::strstr(all, name);
  return found == nullptr ? usual : std::strtoull(found + std::strlen(name) + 1, nullptr, 10);
}

/// Whether the device is to say that it is a board of Xilinx'.
bool is_board() {
  const char* const all = std::getenv("FABRICMARK_LIMITED");
  return all != nullptr && std::strstr(all, "xilinx") != nullptr;
}

template <typename T>
void put(void* value, T number) {
  std::memcpy(value, &number, sizeof(number));
}

}  // namespace

extern "C" cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t size, void* value,
                                  std::size_t* needed) {
  static auto* const next = below<decltype(clGetDeviceInfo)>("clGetDeviceInfo");
  const cl_int code = next(device, what, size, value, needed);
  if (code != CL_SUCCESS || value == nullptr) return code;
  if (what == CL_DEVICE_MAX_COMPUTE_UNITS) {
    cl_uint own = 0;
    std::memcpy(&own, value, sizeof(own));
    put(value, static_cast<cl_uint>(told("units", own)));
  }
  if (what == CL_DEVICE_LOCAL_MEM_SIZE) put<cl_ulong>(value, told("local", 32768));
  if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE) put<std::size_t>(value, told("work-items", 4096));
  const char* const all = std::getenv("FABRICMARK_LIMITED");
  if (what == CL_DEVICE_TYPE && all != nullptr && std::strstr(all, "gpu") != nullptr)
    put<cl_device_type>(value, CL_DEVICE_TYPE_GPU);
  if (what == CL_DEVICE_TYPE && is_board()) put<cl_device_type>(value, CL_DEVICE_TYPE_ACCELERATOR);
  return code;
}

extern "C" cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, std::size_t size,
                                    void* value, std::size_t* needed) {
  static auto* const next = below<decltype(clGetPlatformInfo)>("clGetPlatformInfo");
  if (what != CL_PLATFORM_NAME || !is_board()) return next(platform, what, size, value, needed);
  constexpr std::string_view kName("Xilinx\0", 7);
  if (needed != nullptr) *needed = kName.size();
  if (value != nullptr && size >= kName.size()) std::memcpy(value, kName.data(), kName.size());
  return CL_SUCCESS;
}

extern "C" cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const std::size_t* offset, const std::size_t* global,
                                         const std::size_t* local, cl_uint count, const cl_event* events,
                                         cl_event* done) {
  static auto* const next = below<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
  const char* const all = std::getenv("FABRICMARK_LIMITED");
  if (all != nullptr && std::strstr(all, "ends") != nullptr) std::exit(0);  // as XRT does without its board
  if (local != nullptr && local[0] > told("work-items", 4096)) return CL_INVALID_WORK_GROUP_SIZE;
  cl_ulong bytes = 0;
  if (clGetKernelWorkGroupInfo(kernel, nullptr, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(bytes), &bytes, nullptr) ==
          CL_SUCCESS &&
      bytes > told("local", 32768))
    return CL_OUT_OF_RESOURCES;
  return next(queue, kernel, dimensions, offset, global, local, count, events, done);
}

/// What a kernel takes may be less than what the device does: "kernel=64".
extern "C" cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                           cl_kernel_work_group_info what, std::size_t size, void* value,
                                           std::size_t* needed) {
  static auto* const next = below<decltype(clGetKernelWorkGroupInfo)>("clGetKernelWorkGroupInfo");
  const cl_int code = next(kernel, device, what, size, value, needed);
  if (code == CL_SUCCESS && value != nullptr && what == CL_KERNEL_WORK_GROUP_SIZE)
    put<std::size_t>(value, told("kernel", told("work-items", 4096)));
  return code;
}
