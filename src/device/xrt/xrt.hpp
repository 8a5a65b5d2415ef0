#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/backend.hpp"
#include "device/device.hpp"
#include "device/xrt/library.hpp"

namespace fabricmark::device::xrt {

/// Throws Refusal where a call has failed; `code`: 0 of one that was done.
void check(int code, const char* call);

/// The end of a command that a queue's thread carries out.
class EventState : public Event::State {
 public:
  EventState();
  [[nodiscard]] bool has_ended() override;
  void wait() override;
  /// By the host's clock.
  [[nodiscard]] CommandTimes times() override;
  void begin();
  void end(std::exception_ptr failure);

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::exception_ptr failure_;
  CommandTimes times_;
};

/// Commands one after the other, by a thread of its own: XRT's calls for copies return when they have ended.
class Queue : public backend::Queue {
 public:
  Queue();
  ~Queue() override;
  void flush() override {}  // the thread has what it is given at once
  void finish() override;
  void begin_after(const Events& events) override;
  void migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) override;
  /// `done` may be null.
  void add(std::function<void()> command, Event* done);

 private:
  struct Command {
    std::function<void()> run;
    std::shared_ptr<EventState> state;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> commands_;
  bool is_busy_ = false;
  bool ends_ = false;
  std::exception_ptr failure_;  // of the first command that failed, which `finish` throws
  std::thread thread_;
};

inline Queue& as_own(backend::Queue& queue) { return static_cast<Queue&>(queue); }

/// An opened device; all that is made of it holds a copy.
struct Opened {
  std::shared_ptr<void> device;
  DeviceInfo info;
  /// The memory of buffers that the host touches before a kernel has taken them: that of the first argument
  /// of the bitstream which was loaded last.
  std::shared_ptr<std::atomic<int>> usual_group = std::make_shared<std::atomic<int>>(0);
};

/// The library's handle of a buffer, released with the last who has it.
using Handle = std::shared_ptr<void>;

/// A buffer of a device. It is allocated where its first kernel's argument is connected, unless it was placed
/// before, or when the host first touches it: then in the device's usual group.
class Memory : public backend::Memory {
 public:
  struct Whole;
  Memory(std::shared_ptr<Whole> whole, std::size_t bytes, std::size_t offset)
      : whole_(std::move(whole)), bytes_(bytes), offset_(offset) {}
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
  [[nodiscard]] std::shared_ptr<backend::Memory> part(std::size_t bytes, std::size_t offset) const override;
  [[nodiscard]] std::uint64_t physical_address() const override;
  void move(backend::Queue& queue, bool to_host, Event* done);
  /// Its handle for an argument that is connected to this group.
  [[nodiscard]] Handle as_argument(int group) const;

 private:
  std::shared_ptr<Whole> whole_;
  std::size_t bytes_;
  std::size_t offset_;
};

/// `group`: of the memory that it lies in; negative where its first kernel says. `kind`: of the board, of the
/// host, for kernels that reach it there (host_only), or of the board for others, too (p2p).
std::shared_ptr<Memory> allocate(const Opened& on, std::size_t bytes, MemoryKind kind, int group);
/// The group of memory that a kernel's argument is connected to.
int group_of(const backend::Kernel& kernel, unsigned argument);

std::shared_ptr<const backend::Program> load(const Opened& on, const std::string& binary);

}  // namespace fabricmark::device::xrt
