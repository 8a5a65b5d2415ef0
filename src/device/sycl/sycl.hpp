#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "device/sycl/plugin/interface.hpp"

/// The runtime of device/backend.hpp that speaks SYCL, through a plugin: SYCL's headers and library are
/// installed later than the programs are built, if at all.
namespace fabricmark::device::sycl {

namespace plugin = fabricmark::sycl_plugin;

/// A device and the functions of the plugin that opened it; all that is made of it holds a copy. A plugin
/// stays loaded until the process ends.
struct Opened {
  const plugin::Functions* functions = nullptr;
  std::shared_ptr<plugin::Device> device;
};

/// The plugin's words in one line.
std::string last_words(const plugin::Functions& functions);

/// Throws Refusal unless the call was done.
void check(const plugin::Functions& functions, plugin::Outcome outcome, const char* call);

class EventState : public Event::State {
 public:
  EventState(const Opened& on, plugin::Event* event) : on_(on), event_(event, on.functions->release_event) {}
  [[nodiscard]] bool has_ended() override;
  void wait() override;
  [[nodiscard]] CommandTimes times() override;
  [[nodiscard]] plugin::Event* handle() const { return event_.get(); }

 private:
  Opened on_;
  std::shared_ptr<plugin::Event> event_;
};

/// The plugin's handles of events. Waits for those that are not SYCL's.
std::vector<plugin::Event*> handles(const Events& events);

class Queue : public backend::Queue {
 public:
  /// With the set-up lock, as queues of OpenCL.
  Queue(const Opened& on, bool profiling);
  ~Queue() override;
  void flush() override;
  void finish() override;
  void begin_after(const Events& events) override;
  /// Throws Error (bad use): SYCL knows no such move. Nothing for memory that both share.
  void migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) override;
  [[nodiscard]] plugin::Queue* handle() const { return handle_; }

 private:
  Opened on_;
  plugin::Queue* handle_ = nullptr;
};

inline plugin::Queue* handle(const backend::Queue& queue) {
  return static_cast<const Queue&>(queue).handle();
}

/// Calls `enqueue` with a place for the command's event, or null where nobody asks for it.
template <typename Enqueue>
void with_event(const Opened& on, Event* done, const char* call, const Enqueue& enqueue) {
  plugin::Event* event = nullptr;
  check(*on.functions, enqueue(done != nullptr ? &event : nullptr), call);
  if (done != nullptr) *done = Event(std::make_shared<EventState>(on, event));
}

/// Unified shared memory: of the device, of the host, or of both.
class Memory : public backend::Memory {
 public:
  Memory(const Opened& on, std::shared_ptr<std::byte> bytes, std::size_t size, plugin::MemoryKind kind,
         std::int32_t location)
      : on_(on), bytes_(std::move(bytes)), size_(size), kind_(kind), location_(location) {}
  void write(backend::Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
             Event* done) override;
  void read(backend::Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
            Event* done) const override;
  void copy_to(backend::Queue& queue, backend::Memory& other, std::size_t bytes, std::size_t from,
               std::size_t to) const override;
  void fill(backend::Queue& queue, std::byte value, std::size_t bytes, std::size_t offset) override;
  std::byte* map(backend::Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                 Event* done) override;
  void unmap(backend::Queue& queue, std::byte* mapped, Event* done) override;
  [[nodiscard]] void* address() const override { return bytes_.get(); }
  [[nodiscard]] std::shared_ptr<backend::Memory> part(std::size_t bytes, std::size_t offset) const override;
  [[nodiscard]] bool is_shared() const { return kind_ == plugin::kSharedMemory; }
  /// The number of the board's memory, or plugin::kUsualMemory.
  [[nodiscard]] std::int32_t location() const { return location_; }

 private:
  /// What the host writes into a view of a device's memory, which `unmap` copies there.
  struct Written {
    std::byte* view = nullptr;
    std::size_t bytes = 0;
  };
  Opened on_;
  std::shared_ptr<std::byte> bytes_;
  std::size_t size_ = 0;
  plugin::MemoryKind kind_ = plugin::kDeviceMemory;
  std::int32_t location_ = plugin::kUsualMemory;
  std::shared_ptr<std::byte> view_;  ///< the host's, of as many bytes; made when it is first needed
  std::vector<Written> written_;
};

/// Throws Error (environment) where the device has no room, as backend::Device promises, or no memory of this
/// number.
std::shared_ptr<std::byte> allocate(const Opened& on, const std::string& name, std::size_t bytes,
                                    plugin::MemoryKind kind, std::int32_t location = plugin::kUsualMemory);

/// The memory in which a kernel of SYCL's looks for an argument's buffer.
std::int32_t location_of(const backend::Kernel& kernel, unsigned index);

/// Both throw BuildFailure.
std::shared_ptr<const backend::Program> build(const Opened& on, const std::string& source,
                                              const std::string& options);
std::shared_ptr<const backend::Program> load(const Opened& on, const std::string& binary);

}  // namespace fabricmark::device::sycl
