#pragma once

// OpenCL's C++ bindings. Their configuration stands in CMakeLists.txt, so that every file sees the same one:
// they stay at OpenCL 1.2, which FPGA runtimes speak; the C interface of 2.0 is there for shared virtual
// memory, behind a query.
#include <CL/opencl.hpp>

#include <concepts>
#include <span>
#include <string>
#include <vector>

#include "base/watchdog.hpp"
#include "device/device.hpp"

/// The runtime of device/backend.hpp that speaks OpenCL; nothing outside this folder sees its types.
namespace fabricmark::device::opencl {

/// The standard's name of an OpenCL error code, such as "CL_OUT_OF_RESOURCES".
std::string error_name(cl_int code);
/// What a user can do about it.
std::string remedy_for(cl_int code);

class EventState : public Event::State {
 public:
  [[nodiscard]] bool has_ended() override;
  void wait() override {
    const Watched watched(Awaiting::kDevice);
    event.wait();
  }
  [[nodiscard]] CommandTimes times() override;

  cl::Event event;
};

/// OpenCL's handles of events. Waits for those that are not OpenCL's.
std::vector<cl::Event> handles(const Events& events);

class Queue : public backend::Queue {
 public:
  explicit Queue(cl::CommandQueue handle) : handle_(std::move(handle)) {}
  /// Not while another rank makes one.
  ~Queue() override {
    const auto lock = setup_lock();
    const cl::CommandQueue ended(std::move(handle_));  // unlike an assignment it throws nothing
  }
  void flush() override { handle_.flush(); }
  void finish() override { handle_.finish(); }
  void begin_after(const Events& events) override;
  void migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) override;
  [[nodiscard]] const cl::CommandQueue& handle() const { return handle_; }

 private:
  cl::CommandQueue handle_;
};

inline const cl::CommandQueue& handle(const backend::Queue& queue) {
  return static_cast<const Queue&>(queue).handle();
}

/// Calls `enqueue` with a place for the command's event, or null where nobody asks for it. Where that is
/// refused, the commands before it have ended when the error goes on: who made them may release then what
/// they read and write.
template <std::invocable<cl::Event*> Enqueue>
void with_event(const backend::Queue& queue, Event* done, const Enqueue& enqueue) {
  try {
    if (done == nullptr) return enqueue(nullptr);
    const auto state = std::make_shared<EventState>();
    enqueue(&state->event);
    *done = Event(state);
  } catch (const cl::Error&) {
    const Watched watched(Awaiting::kDevice);
    clFinish(handle(queue)());
    throw;
  }
}

/// The runtime's handle of a kernel that a program of this runtime gave.
cl_kernel handle(const backend::Kernel& kernel);

/// Memory that kernels can take.
class Memory : public backend::Memory {
 public:
  virtual void set_argument(cl::Kernel& kernel, cl_uint index) const = 0;
};

/// Throws Error (environment) where the device has no room, as backend::Device promises.
std::shared_ptr<Memory> allocate(const DeviceInfo& info, const cl::Device& device, const cl::Context& context,
                                 std::size_t bytes, MemoryKind kind, const Placement& placement);
/// The same over bytes of the host.
std::shared_ptr<Memory> allocate_over(const DeviceInfo& info, const cl::Context& context,
                                      std::span<std::byte> host, const Placement& placement);
std::shared_ptr<std::byte> allocate_pinned(const DeviceInfo& info, const cl::Device& device,
                                           const cl::Context& context, std::size_t bytes);
/// As backend::Device promises.
std::shared_ptr<void> pin(const cl::Device& device, const cl::Context& context, std::span<std::byte> pages);

std::shared_ptr<const backend::Program> build(const cl::Device& device, const cl::Context& context,
                                              const std::string& source, const std::string& options);
std::shared_ptr<const backend::Program> load(const cl::Device& device, const cl::Context& context,
                                             const std::string& binary);

}  // namespace fabricmark::device::opencl
