#pragma once

// OpenCL's C++ bindings. Their configuration stands in CMakeLists.txt, so that every file sees the same one:
// they stay at OpenCL 1.2, which FPGA runtimes speak; the C interface of 2.0 is there for shared virtual
// memory, behind a query.
#include <CL/opencl.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/watchdog.hpp"
#include "device/device.hpp"

/// The runtime of device/backend.hpp that speaks OpenCL; nothing outside this folder sees its types.
namespace fabricmark::device::opencl {

/// The standard's name of an OpenCL error code, such as "CL_OUT_OF_RESOURCES".
std::string error_name(cl_int code);
/// What a user can do about it.
std::string remedy_for(cl_int code);

/// A queue of the runtime's, and how many commands it was given.
struct Commands {
  Commands(cl::CommandQueue queue, bool in_order) : handle(std::move(queue)), is_in_order(in_order) {}
  /// Not while another rank makes one.
  ~Commands() {
    const auto lock = setup_lock();
    const cl::CommandQueue ended(std::move(handle));  // unlike an assignment it throws nothing
  }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  cl::CommandQueue handle;
  bool is_in_order;
  std::atomic<std::uint64_t> count = 0;
};

class EventState : public Event::State {
 public:
  /// Of the queue's last command so far; without a queue one of other libraries.
  explicit EventState(std::shared_ptr<const Commands> queue = nullptr)
      : queue_(std::move(queue)), number_(queue_ ? queue_->count.load() : 0) {}
  [[nodiscard]] bool has_ended() override;
  void wait() override;
  [[nodiscard]] CommandTimes times() override;

  cl::Event event;

 private:
  std::shared_ptr<const Commands> queue_;
  std::uint64_t number_;  ///< of the command among the queue's
};

/// OpenCL's handles of events. Waits for those that are not OpenCL's.
std::vector<cl::Event> handles(const Events& events);

class Queue : public backend::Queue {
 public:
  /// `submits`: what a queue is given is submitted at once.
  Queue(cl::CommandQueue handle, bool is_in_order, bool submits)
      : commands_(std::make_shared<Commands>(std::move(handle), is_in_order)), submits_(submits) {}
  void flush() override {
    if (!submits_) commands_->handle.flush();
  }
  void finish() override { commands_->handle.finish(); }
  void begin_after(const Events& events) override;
  void migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) override;
  /// For one more command.
  [[nodiscard]] const cl::CommandQueue& handle() const {
    ++commands_->count;
    return commands_->handle;
  }
  [[nodiscard]] const std::shared_ptr<Commands>& commands() const { return commands_; }

 private:
  std::shared_ptr<Commands> commands_;
  bool submits_;
};

/// For one command.
inline const cl::CommandQueue& handle(const backend::Queue& queue) {
  return static_cast<const Queue&>(queue).handle();
}

/// Calls `enqueue` with a place for the command's event, or null where nobody asks for it. Where that is
/// refused, the commands before it have ended when the error goes on: who made them may release then what
/// they read and write.
template <std::invocable<cl::Event*> Enqueue>
void with_event(const backend::Queue& queue, Event* done, const Enqueue& enqueue) {
  const Watched watched(Awaiting::kDevice);  // the call itself may not return
  try {
    if (done == nullptr) return enqueue(nullptr);
    cl::Event event;
    enqueue(&event);
    const auto state = std::make_shared<EventState>(static_cast<const Queue&>(queue).commands());
    state->event = std::move(event);
    *done = Event(state);
  } catch (const cl::Error&) {
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
std::shared_ptr<Memory> allocate_over(const DeviceInfo& info, const cl::Device& device,
                                      const cl::Context& context,
                                      const std::shared_ptr<const cuda::Block>& block);
std::shared_ptr<Memory> allocate_over(const DeviceInfo& info, const cl::Context& context,
                                      std::span<std::byte> host, const Placement& placement);
std::shared_ptr<std::byte> allocate_pinned(const DeviceInfo& info, const cl::Device& device,
                                           const cl::Context& context, std::size_t bytes);
/// As backend::Device promises.
std::shared_ptr<void> pin(const cl::Device& device, const cl::Context& context, std::span<std::byte> pages);

std::shared_ptr<const backend::Program> build(const cl::Device& device, const cl::Context& context,
                                              const std::string& source, const std::string& options);
std::shared_ptr<const backend::Program> load(const DeviceInfo& info, const cl::Device& device,
                                             const cl::Context& context, const std::string& binary);

}  // namespace fabricmark::device::opencl
