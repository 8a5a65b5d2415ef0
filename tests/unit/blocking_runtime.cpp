// To be preloaded (LD_PRELOAD): a runtime of which one call, the one that FABRICMARK_BLOCKED names, never
// returns, as AMD's may where a card does not answer. Of OpenCL and of XRT's own interface.
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void block_where_asked(const char* name) {
  const char* const blocked = std::getenv("FABRICMARK_BLOCKED");  // NOLINT(concurrency-mt-unsafe): only read
  while (blocked != nullptr && std::strcmp(blocked, name) == 0) pause();
}

}  // namespace

#define MAY_BLOCK(result, name, parameters, arguments)      \
  extern "C" result name parameters {                       \
    static auto* const next = below<decltype(name)>(#name); \
    block_where_asked(#name);                               \
    return next arguments;                                  \
  }

MAY_BLOCK(cl_int, clEnqueueNDRangeKernel,
          (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
           const std::size_t* global, const std::size_t* local, cl_uint count, const cl_event* events,
           cl_event* done),
          (queue, kernel, dimensions, offset, global, local, count, events, done))
MAY_BLOCK(cl_int, clEnqueueWriteBuffer,
          (cl_command_queue queue, cl_mem memory, cl_bool blocking, std::size_t offset, std::size_t bytes,
           const void* source, cl_uint count, const cl_event* events, cl_event* done),
          (queue, memory, blocking, offset, bytes, source, count, events, done))
MAY_BLOCK(cl_int, clEnqueueFillBuffer,
          (cl_command_queue queue, cl_mem memory, const void* pattern, std::size_t pattern_bytes,
           std::size_t offset, std::size_t bytes, cl_uint count, const cl_event* events, cl_event* done),
          (queue, memory, pattern, pattern_bytes, offset, bytes, count, events, done))
MAY_BLOCK(cl_int, clSetKernelArg, (cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value),
          (kernel, index, bytes, value))
MAY_BLOCK(cl_mem, clCreateBuffer,
          (cl_context context, cl_mem_flags flags, std::size_t bytes, void* host, cl_int* code),
          (context, flags, bytes, host, code))
MAY_BLOCK(cl_program, clCreateProgramWithBinary,
          (cl_context context, cl_uint count, const cl_device_id* devices, const std::size_t* bytes,
           const unsigned char** binaries, cl_int* states, cl_int* code),
          (context, count, devices, bytes, binaries, states, code))

MAY_BLOCK(int, xrtRunStart, (void* run), (run))
MAY_BLOCK(int, xrtBOSync, (void* buffer, int direction, std::size_t bytes, std::size_t offset),
          (buffer, direction, bytes, offset))
MAY_BLOCK(void*, xrtBOAlloc, (void* device, std::size_t bytes, std::uint64_t flags, std::uint32_t group),
          (device, bytes, flags, group))
MAY_BLOCK(int, xrtDeviceLoadXclbin, (void* device, const void* container), (device, container))
