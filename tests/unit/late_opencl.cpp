// To be preloaded (LD_PRELOAD): a runtime that reads the pattern of a fill, and what a write without an event
// copies, when its queue is called the next time, as AMD's XRT does in a thread of its own. What lay in a
// frame of a caller is gone by then for certain.
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace {

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Command = std::function<cl_int()>;
std::recursive_mutex mutex;
std::map<cl_command_queue, std::vector<Command>> late;

/// Whether it lies in a frame of this thread: a local of some caller, which has returned when its queue is
/// called again.
bool is_on_stack(const void* place) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) std::abort();
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  const auto* const first = static_cast<const std::byte*>(lowest);
  return std::less_equal<>()(first, place) && std::less<>()(place, first + bytes);
}

/// What the runtime finds there later: of locals something else.
const void* later(const void* pattern) {
  static constexpr std::array<unsigned char, 128> kSomethingElse{0xA5, 0x5A};
  return is_on_stack(pattern) ? kSomethingElse.data() : pattern;
}

/// Carries a command on a memory object out when its queue is called the next time.
cl_int put_off(cl_command_queue queue, cl_mem memory, const Command& command) {
  clRetainMemObject(memory);
  const std::scoped_lock lock(mutex);
  late[queue].emplace_back([=] {
    const cl_int code = command();
    clReleaseMemObject(memory);
    return code;
  });
  return CL_SUCCESS;
}

cl_int catch_up(cl_command_queue queue) {
  const std::scoped_lock lock(mutex);
  const std::vector<Command> due = std::exchange(late[queue], {});
  for (const Command& command : due) {
    if (const cl_int code = command(); code != CL_SUCCESS) return code;
  }
  return CL_SUCCESS;
}

}  // namespace

/// A call whose first argument is a queue, before which its late commands are carried out.
#define AFTER_LATE_ONES(name, parameters, arguments)                          \
  extern "C" cl_int name parameters {                                         \
    static auto* const next = below<decltype(name)>(#name);                   \
    if (const cl_int code = catch_up(queue); code != CL_SUCCESS) return code; \
    return next arguments;                                                    \
  }

extern "C" cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void* pattern,
                                      std::size_t pattern_bytes, std::size_t offset, std::size_t bytes,
                                      cl_uint count, const cl_event* events, cl_event* done) {
  static auto* const next = below<decltype(clEnqueueFillBuffer)>("clEnqueueFillBuffer");
  if (count > 0 || done != nullptr)
    return next(queue, memory, pattern, pattern_bytes, offset, bytes, count, events, done);
  const void* const read = later(pattern);
  return put_off(queue, memory, [=] {
    return next(queue, memory, read, pattern_bytes, offset, bytes, 0, nullptr, nullptr);
  });
}

extern "C" cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                       std::size_t offset, std::size_t bytes, const void* source,
                                       cl_uint count, const cl_event* events, cl_event* done) {
  static auto* const next = below<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer");
  if (blocking == CL_TRUE || count > 0 || done != nullptr) {
    if (const cl_int code = catch_up(queue); code != CL_SUCCESS) return code;
    return next(queue, memory, blocking, offset, bytes, source, count, events, done);
  }
  return put_off(queue, memory,
                 [=] { return next(queue, memory, CL_TRUE, offset, bytes, source, 0, nullptr, nullptr); });
}

AFTER_LATE_ONES(clFinish, (cl_command_queue queue), (queue))
AFTER_LATE_ONES(clFlush, (cl_command_queue queue), (queue))
AFTER_LATE_ONES(clReleaseCommandQueue, (cl_command_queue queue), (queue))
AFTER_LATE_ONES(clEnqueueReadBuffer,
                (cl_command_queue queue, cl_mem memory, cl_bool blocking, std::size_t offset,
                 std::size_t bytes, void* destination, cl_uint count, const cl_event* events, cl_event* done),
                (queue, memory, blocking, offset, bytes, destination, count, events, done))
AFTER_LATE_ONES(clEnqueueCopyBuffer,
                (cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                 std::size_t to_offset, std::size_t bytes, cl_uint count, const cl_event* events,
                 cl_event* done),
                (queue, from, to, from_offset, to_offset, bytes, count, events, done))
AFTER_LATE_ONES(clEnqueueNDRangeKernel,
                (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
                 const std::size_t* global, const std::size_t* local, cl_uint count, const cl_event* events,
                 cl_event* done),
                (queue, kernel, dimensions, offset, global, local, count, events, done))
AFTER_LATE_ONES(clEnqueueUnmapMemObject,
                (cl_command_queue queue, cl_mem memory, void* mapped, cl_uint count, const cl_event* events,
                 cl_event* done),
                (queue, memory, mapped, count, events, done))
AFTER_LATE_ONES(clEnqueueBarrierWithWaitList,
                (cl_command_queue queue, cl_uint count, const cl_event* events, cl_event* done),
                (queue, count, events, done))
AFTER_LATE_ONES(clEnqueueMigrateMemObjects,
                (cl_command_queue queue, cl_uint objects, const cl_mem* memories,
                 cl_mem_migration_flags flags, cl_uint count, const cl_event* events, cl_event* done),
                (queue, objects, memories, flags, count, events, done))

extern "C" void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                    cl_map_flags flags, std::size_t offset, std::size_t bytes, cl_uint count,
                                    const cl_event* events, cl_event* done, cl_int* code) {
  static auto* const next = below<decltype(clEnqueueMapBuffer)>("clEnqueueMapBuffer");
  if (const cl_int late_code = catch_up(queue); late_code != CL_SUCCESS) {
    if (code != nullptr) *code = late_code;
    return nullptr;
  }
  return next(queue, memory, blocking, flags, offset, bytes, count, events, done, code);
}
