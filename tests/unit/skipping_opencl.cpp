// To be preloaded (LD_PRELOAD): plays a runtime between a program and a GPU over a slow link, which skips
// copies of memory that it believes has not changed since it was last read (Contini et al. 2024,
// section 3.1.2). Devices of the runtime below are said to be GPUs. A copy from the device takes
// FABRICMARK_SLOW_SECONDS_PER_BYTE for each byte; one that is skipped takes none, and what was read before is
// there. FABRICMARK_SKIPS is "unchanged" (as a runtime that knows what kernels may have changed) or "all" (as
// one that takes no notice of kernels). At the end it writes how many copies it has made and skipped to
// FABRICMARK_SKIPS_LOG.
#include <CL/cl.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace {

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Range = std::tuple<cl_mem, std::size_t, std::size_t>;

struct State {
  ~State() {
    const char* const name = std::getenv("FABRICMARK_SKIPS_LOG");
    if (name == nullptr) return;
    if (std::FILE* const log = std::fopen(name, "w"); log != nullptr) {
      std::fprintf(log, "%d %d\n", made, skipped);
      std::fclose(log);
    }
  }
  void change(cl_mem memory) {
    std::erase_if(read, [&](const auto& one) { return std::get<0>(one.first) == memory; });
  }
  std::recursive_mutex mutex;
  std::map<Range, std::vector<char>> read;  // and not changed since
  std::map<cl_kernel, std::map<cl_uint, cl_mem>> arguments;
  bool knows_kernels =
      std::getenv("FABRICMARK_SKIPS") == nullptr || std::getenv("FABRICMARK_SKIPS")[0] == 'u';
  int made = 0;
  int skipped = 0;
};

State& state() {
  static State one;
  return one;
}

void wait_for(std::size_t bytes) {
  const char* const slow = std::getenv("FABRICMARK_SLOW_SECONDS_PER_BYTE");
  const double seconds = slow == nullptr ? 0 : std::atof(slow) * static_cast<double>(bytes);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

extern "C" {

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, std::size_t size, void* value,
                       std::size_t* needed) {
  const cl_int code = below<decltype(clGetDeviceInfo)>("clGetDeviceInfo")(device, name, size, value, needed);
  if (name == CL_DEVICE_TYPE && value != nullptr) *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
  return code;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, std::size_t size, const void* value) {
  if (size == sizeof(cl_mem) && value != nullptr) {
    const std::scoped_lock lock(state().mutex);
    std::memcpy(&state().arguments[kernel][index], value, size);
  }
  return below<decltype(clSetKernelArg)>("clSetKernelArg")(kernel, index, size, value);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                              cl_uint count, const cl_event* events, cl_event* event) {
  {
    const std::scoped_lock lock(state().mutex);
    if (state().knows_kernels) {
      for (const auto& [index, memory] : state().arguments[kernel]) state().change(memory);
    }
  }
  return below<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(
      queue, kernel, dimensions, offset, global, local, count, events, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, std::size_t offset,
                            std::size_t bytes, const void* data, cl_uint count, const cl_event* events,
                            cl_event* event) {
  {
    const std::scoped_lock lock(state().mutex);
    state().change(memory);
  }
  return below<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer")(queue, memory, blocks, offset, bytes,
                                                                       data, count, events, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool /*blocks*/, std::size_t offset,
                           std::size_t bytes, void* data, cl_uint count, const cl_event* events,
                           cl_event* event) {
  {
    const std::scoped_lock lock(state().mutex);
    const auto found = state().read.find({memory, offset, bytes});
    if (found != state().read.end()) {
      ++state().skipped;
      std::memcpy(data, found->second.data(), bytes);
      if (event == nullptr) return CL_SUCCESS;
      return below<decltype(clEnqueueMarkerWithWaitList)>("clEnqueueMarkerWithWaitList")(queue, count, events,
                                                                                         event);
    }
    ++state().made;
  }
  const cl_int code = below<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer")(
      queue, memory, CL_TRUE, offset, bytes, data, count, events, event);
  wait_for(bytes);
  const std::scoped_lock lock(state().mutex);
  const char* const first = static_cast<const char*>(data);
  state().read[{memory, offset, bytes}] = {first, first + bytes};
  return code;
}
}
