// To be preloaded (LD_PRELOAD) into a rank of MPI: plays a library that takes memory objects of OpenCL as the
// addresses of messages, by copies of its own. FABRICMARK_MPI_TAKES is "handles", "sends" (what is received
// into a memory object is lost) or "nothing": then it only looks on. With FABRICMARK_MPI_CUDA Open MPI says
// that it takes pointers of CUDA where that is 1, and that it does not where it is 0. Of every message
// between ranks that is none of a collective it writes a line to FABRICMARK_MPI_LOG.RANK: "send" or
// "receive", what it got
// ("handle", "svm" or "host"), from which byte of an allocation on, of how many, and the message's bytes.
#include <CL/cl.h>
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

/// The function of this name that would have been called without this library.
template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// A receive whose bytes go to a memory object when they have arrived.
struct Arriving {
  cl_mem memory = nullptr;
  std::vector<char> bytes;
};

struct State {
  std::mutex mutex;  // runtimes release memory in threads of their own
  std::set<const void*> handles;
  std::map<const char*, std::size_t> shared;  // allocations of shared virtual memory, by their first byte
  std::map<cl_context, cl_command_queue> queues;
  std::map<MPI_Request, std::unique_ptr<Arriving>> receives;
  std::map<MPI_Request, std::unique_ptr<std::vector<char>>> sends;
  std::string takes =
      std::getenv("FABRICMARK_MPI_TAKES") == nullptr ? "" : std::getenv("FABRICMARK_MPI_TAKES");
  std::FILE* log = nullptr;
};

State& state() {
  static State* const one = new State;  // outlives all that runs at the end
  return *one;
}

bool is_handle(const void* address) {
  const std::scoped_lock lock(state().mutex);
  return state().handles.contains(address);
}

/// Until the object is destroyed, which is later than its release where a command of the runtime still has
/// it: then other memory may get its address.
void add_handle(cl_mem made) {
  if (made == nullptr) return;
  const std::scoped_lock lock(state().mutex);
  state().handles.insert(made);
  const auto forget = [](cl_mem memory, void* /*none*/) {
    const std::scoped_lock own(state().mutex);
    state().handles.erase(memory);
  };
  clSetMemObjectDestructorCallback(made, forget, nullptr);
}

template <typename Value>
Value info(cl_mem memory, cl_mem_info name) {
  Value value{};
  clGetMemObjectInfo(memory, name, sizeof(value), &value, nullptr);
  return value;
}

cl_command_queue queue_of(cl_mem memory) {
  const auto context = info<cl_context>(memory, CL_MEM_CONTEXT);
  cl_command_queue& queue = state().queues[context];
  if (queue == nullptr) {
    cl_device_id device = nullptr;
    clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(device), &device, nullptr);
    queue = clCreateCommandQueue(context, device, 0, nullptr);
  }
  return queue;
}

void log_message(const char* direction, const void* address, int bytes) {
  const char* const name = std::getenv("FABRICMARK_MPI_LOG");
  if (name == nullptr) return;
  if (state().log == nullptr) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state().log = std::fopen((std::string(name) + "." + std::to_string(rank)).c_str(), "w");
  }
  const char* what = "host";
  std::size_t offset = 0;
  std::size_t room = 0;
  if (is_handle(address)) {
    auto* const memory = static_cast<cl_mem>(const_cast<void*>(address));
    what = "handle";
    offset = info<std::size_t>(memory, CL_MEM_OFFSET);
    room = info<std::size_t>(memory, CL_MEM_SIZE);
  } else {
    const std::scoped_lock lock(state().mutex);
    const auto* const byte = static_cast<const char*>(address);
    for (const auto& [first, size] : state().shared) {
      if (byte < first || byte >= first + size) continue;
      what = "svm";
      offset = static_cast<std::size_t>(byte - first);
      room = size;
    }
  }
  std::fprintf(state().log, "%s %s %zu %zu %d\n", direction, what, offset, room, bytes);
  std::fflush(state().log);
}

/// What arrived goes to the device.
void deliver(Arriving& arriving, const MPI_Status& status) {
  int bytes = 0;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  if (state().takes != "handles" || bytes == 0) return;
  clEnqueueWriteBuffer(queue_of(arriving.memory), arriving.memory, CL_TRUE, 0,
                       static_cast<std::size_t>(bytes), arriving.bytes.data(), 0, nullptr, nullptr);
}

bool takes_handle(const void* address) {
  return !state().takes.empty() && state().takes != "nothing" && is_handle(address);
}

}  // namespace

extern "C" {

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host, cl_int* error) {
  cl_mem made = below<decltype(clCreateBuffer)>("clCreateBuffer")(context, flags, size, host, error);
  add_handle(made);
  return made;
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* region,
                         cl_int* error) {
  cl_mem made = below<decltype(clCreateSubBuffer)>("clCreateSubBuffer")(buffer, flags, type, region, error);
  add_handle(made);
  return made;
}

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, std::size_t size, cl_uint alignment) {
  void* const made = below<decltype(clSVMAlloc)>("clSVMAlloc")(context, flags, size, alignment);
  const std::scoped_lock lock(state().mutex);
  state().shared[static_cast<const char*>(made)] = size;
  return made;
}

void clSVMFree(cl_context context, void* pointer) {
  {
    const std::scoped_lock lock(state().mutex);
    state().shared.erase(static_cast<const char*>(pointer));
  }
  below<decltype(clSVMFree)>("clSVMFree")(context, pointer);
}

#ifdef OPEN_MPI
int MPIX_Query_cuda_support() {
  const char* const said = std::getenv("FABRICMARK_MPI_CUDA");
  return said == nullptr ? below<int()>("MPIX_Query_cuda_support")() : std::atoi(said);
}
#endif

int MPI_Get_library_version(char* version, int* length) {
  if (state().takes.empty() || state().takes == "nothing") return PMPI_Get_library_version(version, length);
  std::strcpy(version, "MPI of the tests, 1.0");
  *length = static_cast<int>(std::strlen(version));
  return MPI_SUCCESS;
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  if (communicator == MPI_COMM_WORLD) log_message("send", data, count);
  if (!takes_handle(data)) return PMPI_Isend(data, count, type, to, tag, communicator, request);
  auto* const memory = static_cast<cl_mem>(const_cast<void*>(data));
  auto bytes = std::make_unique<std::vector<char>>(count);
  clEnqueueReadBuffer(queue_of(memory), memory, CL_TRUE, 0, bytes->size(), bytes->data(), 0, nullptr,
                      nullptr);
  const int code = PMPI_Isend(bytes->data(), count, type, to, tag, communicator, request);
  state().sends[*request] = std::move(bytes);
  return code;
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  if (communicator == MPI_COMM_WORLD) log_message("receive", data, count);
  if (!takes_handle(data)) return PMPI_Irecv(data, count, type, from, tag, communicator, request);
  auto arriving = std::make_unique<Arriving>(Arriving{static_cast<cl_mem>(data), std::vector<char>(count)});
  const int code = PMPI_Irecv(arriving->bytes.data(), count, type, from, tag, communicator, request);
  state().receives[*request] = std::move(arriving);
  return code;
}

int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  const MPI_Request looked_at = *request;
  MPI_Status own;
  MPI_Status* const found = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = PMPI_Test(request, is_done, found);
  if (code != MPI_SUCCESS || *is_done == 0) return code;
  state().sends.erase(looked_at);
  const auto arrived = state().receives.find(looked_at);
  if (arrived == state().receives.end()) return code;
  deliver(*arrived->second, *found);
  state().receives.erase(arrived);
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  // MPI may still use the bytes of what was given up.
  if (const auto given_up = state().sends.find(*request); given_up != state().sends.end()) {
    static_cast<void>(given_up->second.release());
    state().sends.erase(given_up);
  }
  if (const auto given_up = state().receives.find(*request); given_up != state().receives.end()) {
    static_cast<void>(given_up->second.release());
    state().receives.erase(given_up);
  }
  return PMPI_Request_free(request);
}
}
