#pragma once

// OpenCL's declarations come with SYCL's; its functions are those of the loader that the program has.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <exception>
#include <optional>
#include <string>
#include <sycl/backend/opencl.hpp>
#include <sycl/sycl.hpp>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "library.hpp"

/// Host code of SYCL. Any C++ compiler translates it: kernels are OpenCL C or SYCL C++, built when the
/// program runs, and become kernels of SYCL by its interoperability with OpenCL; or a library of kernels
/// starts them itself.
namespace fabricmark::sycl_plugin {

constexpr auto kBackend = sycl::backend::opencl;

struct Device {
  sycl::device device;
  sycl::context context;
};

struct Queue {
  explicit Queue(sycl::queue made) : queue(std::move(made)), handle(sycl::get_native<kBackend>(queue)) {}
  ~Queue() { clReleaseCommandQueue(handle); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  sycl::queue queue;
  cl_command_queue handle;  ///< what `queue` holds
};

struct Event {
  sycl::event event;
};

/// SYCL makes a program of OpenCL for each group of kernels that need the same of a device.
struct Program {
  Program(const Device& on, std::vector<cl_program> made) : device(on), handles(std::move(made)) {}
  ~Program() {
    for (cl_program const handle : handles) clReleaseProgram(handle);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Device device;
  std::vector<cl_program> handles;
  std::shared_ptr<const Library> library;  ///< in place of `handles`
  std::string binary;                      ///< filled when asked for, as the names
  std::string names;
};

/// A value that a kernel is started with: SYCL takes all of them anew each time.
struct Argument {
  bool is_memory = false;
  void* memory = nullptr;
  std::size_t bytes = 0;
  std::uint64_t number = 0;  ///< in its first bytes
};

struct Kernel {
  std::optional<sycl::kernel> kernel;
  cl_kernel handle = nullptr;  ///< what `kernel` holds
  std::vector<Argument> arguments;
  std::shared_ptr<const Library> library;  ///< that starts it, in place of `kernel`
  const fm::EntryPoint* entry = nullptr;   ///< in the library
  Library::Start function = nullptr;
};

/// Keeps `words` for last_words.
Outcome failed(Outcome outcome, const std::string& words);
const char* last_words();
void put(Text& text, const std::string& words);

/// Does it, and makes an outcome of what it throws.
template <typename Action>
Outcome guarded(const Action& action) {
  try {
    action();
    return kDone;
  } catch (const std::exception& error) {
    return failed(kRefused, error.what());
  } catch (...) {
    return failed(kRefused, "SYCL threw what is no exception");
  }
}

inline void hand_over(sycl::event event, Event** done) {
  if (done != nullptr) *done = new Event{std::move(event)};
}

inline std::vector<sycl::event> all_of(Event* const* events, std::size_t count) {
  std::vector<sycl::event> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(events[i]->event);
  return found;
}

/// Fills in what kernels.cpp has.
void add_kernels(Functions& functions);

}  // namespace fabricmark::sycl_plugin
