// To be preloaded (LD_PRELOAD): a runtime of which one call goes wrong. FABRICMARK_FAULTY_CALL names it, as
// "write 3" the fourth copy to the device: write, read, kernel, buffer or finish; FABRICMARK_FAULTY_KIND is
// "refused", or "skipped": it says that all is well and does nothing. How many of each there were stands at
// the end in FABRICMARK_FAULTY_LOG.
#include <CL/cl.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

enum Call { kWrite, kRead, kKernel, kBuffer, kFinish };
constexpr std::array<const char*, 5> kNames{"write", "read", "kernel", "buffer", "finish"};

struct State {
  State() {
    const char* const call = std::getenv("FABRICMARK_FAULTY_CALL");
    const char* const kind = std::getenv("FABRICMARK_FAULTY_KIND");
    is_refused = kind != nullptr && std::strcmp(kind, "refused") == 0;
    if (call != nullptr && std::sscanf(call, "%15s %d", name.data(), &number) != 2) std::abort();
  }
  ~State() {
    const char* const log = std::getenv("FABRICMARK_FAULTY_LOG");
    std::FILE* const file = log == nullptr ? nullptr : std::fopen(log, "w");
    if (file == nullptr) return;
    for (std::size_t i = 0; i < kNames.size(); ++i)
      std::fprintf(file, "%s %d\n", kNames[i], counts[i].load());
    std::fclose(file);
  }
  std::array<char, 16> name{};
  int number = -1;
  bool is_refused = false;
  std::array<std::atomic<int>, 5> counts{};
};

State& state() {
  static State one;
  return one;
}

/// Whether this call is the one that goes wrong.
bool is_wrong(Call call) {
  const int number = state().counts[call]++;
  return number == state().number && std::strcmp(state().name.data(), kNames[call]) == 0;
}

/// What the wrong call returns; its event has ended.
cl_int wrong(cl_command_queue queue, cl_uint count, const cl_event* events, cl_event* event) {
  if (state().is_refused) return CL_OUT_OF_RESOURCES;
  if (event == nullptr) return CL_SUCCESS;
  return below<decltype(clEnqueueMarkerWithWaitList)>("clEnqueueMarkerWithWaitList")(queue, count, events,
                                                                                     event);
}

}  // namespace

extern "C" {

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, std::size_t offset,
                            std::size_t bytes, const void* data, cl_uint count, const cl_event* events,
                            cl_event* event) {
  if (is_wrong(kWrite)) return wrong(queue, count, events, event);
  return below<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer")(queue, memory, blocks, offset, bytes,
                                                                       data, count, events, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, std::size_t offset,
                           std::size_t bytes, void* data, cl_uint count, const cl_event* events,
                           cl_event* event) {
  if (is_wrong(kRead)) return wrong(queue, count, events, event);
  return below<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer")(queue, memory, blocks, offset, bytes,
                                                                     data, count, events, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                              cl_uint count, const cl_event* events, cl_event* event) {
  if (is_wrong(kKernel)) return wrong(queue, count, events, event);
  return below<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(
      queue, kernel, dimensions, offset, global, local, count, events, event);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host, cl_int* code) {
  if (is_wrong(kBuffer)) {
    if (code != nullptr) *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  }
  return below<decltype(clCreateBuffer)>("clCreateBuffer")(context, flags, bytes, host, code);
}

cl_int clFinish(cl_command_queue queue) {
  const bool is_it = is_wrong(kFinish);
  const cl_int code = below<decltype(clFinish)>("clFinish")(queue);
  return is_it && state().is_refused ? CL_OUT_OF_RESOURCES : code;
}
}
