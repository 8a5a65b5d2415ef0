// To be preloaded (LD_PRELOAD): plays a GPU behind a link whose every delay is known, on a clock of its own,
// which goes on by these delays and by nothing else: what a program measures does not depend on the machine.
// The runtime below does the work, and its devices are said to be GPUs with a memory of their own.
//
// FABRICMARK_LINK has the delays [s], separated by commas: of the call that queues a command; from there to
// its submission; between two commands of an in-order queue; of a transfer, and of each of its bytes, one
// transfer at a time each way; of each byte of memory of the host that is not at a page's start, before its
// transfer; of a kernel. FABRICMARK_LINK_FAULT: "lazy" has migrations that move nothing and return at once,
// "backwards" gives the times of a command in the wrong order, "untimed" gives those of a migration all the
// same.
#include <CL/cl.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
constexpr double kNanosecond = 1e-9;

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Delays {
  double call = 0, submit = 0, turn = 0, start = 0, byte = 0, staged_byte = 0, kernel = 0;
};

struct Times {
  double queued = 0, submitted = 0, started = 0, ended = 0;
};

struct Queue {
  double free = -1;  // when its next command may begin; negative: it had none
  double after = 0;  // what a barrier waits for
  double all = 0;    // when all have ended
};

struct Object {
  std::size_t bytes = 0;
  bool is_staged = false;
  bool is_pinned = false;
};

struct View {
  cl_mem memory = nullptr;
  std::size_t bytes = 0;
  bool for_writing = false;
};

class Link {
 public:
  Link() {
    const char* rest = std::getenv("FABRICMARK_LINK");
    for (double* const delay : {&delays.call, &delays.submit, &delays.turn, &delays.start, &delays.byte,
                                &delays.staged_byte, &delays.kernel}) {
      if (rest == nullptr || *rest == '\0') break;
      char* end = nullptr;
      *delay = std::strtod(rest, &end);
      rest = *end == ',' ? end + 1 : end;
    }
    const char* const text = std::getenv("FABRICMARK_LINK_FAULT");
    fault = text == nullptr ? "" : text;
  }

  /// A command that takes `seconds`, and before them `staged`; where it is a transfer, of one way of the
  /// link.
  void run(cl_command_queue handle, const cl_event* wait, cl_uint waits, cl_event* event, double seconds,
           double staged = 0, double* way = nullptr) {
    Queue& queue = queues[handle];
    Times times{.queued = now};
    now += delays.call;
    times.submitted = times.queued + delays.submit;
    times.started = std::max(times.submitted, queue.after);
    if (!is_unordered(handle) && queue.free >= 0)
      times.started = std::max(times.started, queue.free + delays.turn);
    for (cl_uint i = 0; i < waits; ++i) times.started = std::max(times.started, events[wait[i]].ended);
    const double begin = std::max(times.started + staged, way != nullptr ? *way : 0);
    times.ended = begin + seconds;
    if (way != nullptr) *way = times.ended;
    queue.free = times.ended;
    queue.all = std::max(queue.all, times.ended);
    if (event != nullptr) events[*event] = times;
  }
  void transfer(cl_command_queue handle, cl_uint waits, const cl_event* wait, cl_event* event, bool to_device,
                std::size_t bytes, bool is_staged) {
    const auto count = static_cast<double>(bytes);
    run(handle, wait, waits, event, delays.start + count * delays.byte,
        is_staged ? count * delays.staged_byte : 0, &ways.at(to_device ? 1 : 0));
  }
  [[nodiscard]] bool is_staged(const void* memory) const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    for (const auto& [start, view] : views) {
      const auto first = reinterpret_cast<std::uintptr_t>(start);
      const auto object = objects.find(view.memory);
      const bool is_pinned = object != objects.end() && object->second.is_pinned;
      if (is_pinned && address >= first && address < first + view.bytes) return false;
    }
    return address % kPage != 0;
  }

  std::recursive_mutex mutex;
  Delays delays;
  std::string fault;
  double now = 0;
  std::array<double, 2> ways{};
  std::map<cl_command_queue, Queue> queues;
  std::map<cl_event, Times> events;
  std::map<cl_mem, Object> objects;
  std::map<void*, View> views;

 private:
  static bool is_unordered(cl_command_queue queue) {
    cl_command_queue_properties properties = 0;
    below<decltype(clGetCommandQueueInfo)>("clGetCommandQueueInfo")(queue, CL_QUEUE_PROPERTIES,
                                                                    sizeof(properties), &properties, nullptr);
    return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  }
};

Link& link_of_all() {
  static Link one;
  return one;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = below<int(clockid_t, timespec*)>("clock_gettime");
  if (clock != CLOCK_MONOTONIC) return real(clock, time);
  constexpr double kTick = 1e-9;  // who waits for time to pass must see it pass
  constexpr double kStart = 1000;
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  link.now += kTick;
  const long long nanoseconds = std::llround((kStart + link.now) / kNanosecond);
  constexpr long long kSecond = 1'000'000'000;
  time->tv_sec = static_cast<time_t>(nanoseconds / kSecond);
  time->tv_nsec = static_cast<long>(nanoseconds % kSecond);
  return 0;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, std::size_t size, void* value,
                       std::size_t* needed) {
  const cl_int code = below<decltype(clGetDeviceInfo)>("clGetDeviceInfo")(device, name, size, value, needed);
  if (name == CL_DEVICE_TYPE && value != nullptr) *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
  if (name == CL_DEVICE_HOST_UNIFIED_MEMORY && value != nullptr) *static_cast<cl_bool*>(value) = CL_FALSE;
  return code;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host, cl_int* code) {
  const cl_mem made = below<decltype(clCreateBuffer)>("clCreateBuffer")(context, flags, bytes, host, code);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  link.objects[made] = {bytes, (flags & CL_MEM_USE_HOST_PTR) != 0 && link.is_staged(host),
                        (flags & CL_MEM_ALLOC_HOST_PTR) != 0};
  return made;
}

cl_mem clCreateSubBuffer(cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type, const void* region,
                         cl_int* code) {
  const cl_mem made =
      below<decltype(clCreateSubBuffer)>("clCreateSubBuffer")(memory, flags, type, region, code);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  link.objects[made] = {static_cast<const cl_buffer_region*>(region)->size, link.objects[memory].is_staged,
                        link.objects[memory].is_pinned};
  return made;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, std::size_t offset,
                            std::size_t bytes, const void* data, cl_uint waits, const cl_event* wait,
                            cl_event* event) {
  const cl_int code = below<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer")(
      queue, memory, blocks, offset, bytes, data, waits, wait, event);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  link.transfer(queue, waits, wait, event, /*to_device=*/true, bytes, link.is_staged(data));
  return code;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, std::size_t offset,
                           std::size_t bytes, void* data, cl_uint waits, const cl_event* wait,
                           cl_event* event) {
  const cl_int code = below<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer")(
      queue, memory, blocks, offset, bytes, data, waits, wait, event);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  link.transfer(queue, waits, wait, event, /*to_device=*/false, bytes, link.is_staged(data));
  return code;
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem* memories,
                                  cl_mem_migration_flags flags, cl_uint waits, const cl_event* wait,
                                  cl_event* event) {
  const cl_int code = below<decltype(clEnqueueMigrateMemObjects)>("clEnqueueMigrateMemObjects")(
      queue, count, memories, flags, waits, wait, event);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  std::size_t bytes = 0;
  bool is_staged = false;
  for (cl_uint i = 0; i < count; ++i) {
    bytes += link.objects[memories[i]].bytes;
    is_staged = is_staged || link.objects[memories[i]].is_staged;
  }
  if (link.fault == "lazy") {
    link.now += link.delays.call;
    return code;
  }
  link.transfer(queue, waits, wait, event, (flags & CL_MIGRATE_MEM_OBJECT_HOST) == 0, bytes, is_staged);
  if (link.fault == "untimed" && event != nullptr) link.events[*event] = {1, 1, 1, 1};
  return code;
}

void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, cl_map_flags flags,
                         std::size_t offset, std::size_t bytes, cl_uint waits, const cl_event* wait,
                         cl_event* event, cl_int* code) {
  void* const view = below<decltype(clEnqueueMapBuffer)>("clEnqueueMapBuffer")(
      queue, memory, blocks, flags, offset, bytes, waits, wait, event, code);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  const bool for_writing = (flags & CL_MAP_READ) == 0;
  link.views[view] = {memory, bytes, for_writing};
  if (for_writing) {
    link.run(queue, wait, waits, event, 0);
  } else {
    link.transfer(queue, waits, wait, event, /*to_device=*/false, bytes, link.objects[memory].is_staged);
  }
  if (blocks == CL_TRUE) link.now = std::max(link.now, link.queues[queue].all);
  return view;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* mapped, cl_uint waits,
                               const cl_event* wait, cl_event* event) {
  const cl_int code = below<decltype(clEnqueueUnmapMemObject)>("clEnqueueUnmapMemObject")(
      queue, memory, mapped, waits, wait, event);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  const View view = link.views[mapped];
  link.views.erase(mapped);
  if (view.for_writing) {
    link.transfer(queue, waits, wait, event, /*to_device=*/true, view.bytes, link.objects[memory].is_staged);
  } else {
    link.run(queue, wait, waits, event, 0);
  }
  return code;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                              cl_uint waits, const cl_event* wait, cl_event* event) {
  const cl_int code = below<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(
      queue, kernel, dimensions, offset, global, local, waits, wait, event);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  link.run(queue, wait, waits, event, link.delays.kernel);
  return code;
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event* wait,
                                    cl_event* event) {
  const cl_int code = below<decltype(clEnqueueBarrierWithWaitList)>("clEnqueueBarrierWithWaitList")(
      queue, waits, wait, event);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  for (cl_uint i = 0; i < waits; ++i) {
    link.queues[queue].after = std::max(link.queues[queue].after, link.events[wait[i]].ended);
  }
  return code;
}

cl_int clFinish(cl_command_queue queue) {
  const cl_int code = below<decltype(clFinish)>("clFinish")(queue);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  link.now = std::max(link.now, link.queues[queue].all);
  return code;
}

cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  const cl_int code = below<decltype(clWaitForEvents)>("clWaitForEvents")(count, events);
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  for (cl_uint i = 0; i < count; ++i) link.now = std::max(link.now, link.events[events[i]].ended);
  return code;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, std::size_t size, void* value,
                               std::size_t* needed) {
  Link& link = link_of_all();
  const std::scoped_lock lock(link.mutex);
  const auto found = link.events.find(event);
  if (found == link.events.end()) {
    return below<decltype(clGetEventProfilingInfo)>("clGetEventProfilingInfo")(event, name, size, value,
                                                                               needed);
  }
  const Times& times = found->second;
  std::array<double, 4> moments{times.queued, times.submitted, times.started, times.ended};
  if (link.fault == "backwards") std::swap(moments[1], moments[2]);
  const auto moment = static_cast<cl_ulong>(moments.at(name - CL_PROFILING_COMMAND_QUEUED) / kNanosecond);
  std::memcpy(value, &moment, sizeof(moment));
  return CL_SUCCESS;
}
}
