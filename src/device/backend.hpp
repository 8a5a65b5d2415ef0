#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "device/board_memory.hpp"
#include "device/cuda/peer_memory.hpp"
#include "device/event.hpp"

/// What a runtime implements for the classes of fabricmark::device: OpenCL in opencl/, others beside it.
namespace fabricmark::device {

/// How many work-items a kernel is started with; a single work-item by default.
struct Geometry {
  static constexpr std::size_t kAnyLocal = 0;  ///< the runtime chooses the work-groups
  std::size_t global = 1;
  std::size_t local = 1;
};

/// Where a buffer lives and how the host reaches it.
enum class MemoryKind {
  kBuffer,       ///< the device's own memory; copies move the data
  kHostPointer,  ///< over page-aligned host memory (CL_MEM_USE_HOST_PTR); a runtime may do without copies
  kSvm,          ///< shared virtual memory, coarse grain
  kPeer,  ///< of a GPU that other GPUs of the host reach, of other processes too, unless it is too large
};

/// An argument as the source of a built kernel declares it.
struct TakenArgument {
  std::string space;  ///< "global", "local", "constant"; empty for a value
  std::string type;   ///< as declared, such as "float4*"
  std::string name;
};

/// A runtime could not build or load a program; what() is its code.
class BuildFailure : public std::runtime_error {
 public:
  explicit BuildFailure(const std::string& code, std::string log = {})
      : std::runtime_error(code), log_(std::move(log)) {}
  /// The compiler's words.
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  std::string log_;
};

/// A runtime refused a call; what() is what was tried and its words.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Held while platforms, contexts, queues and programs are made: loaders and runtimes crash when several
/// ranks of one process do that at the same time (seen with PoCL 3.1). Running kernels needs no lock.
[[nodiscard]] std::unique_lock<std::recursive_mutex> setup_lock();

namespace backend {

class Memory;

/// Commands of one queue run in order, but for those of Device::unordered_queue.
class Queue : public Interface {
 public:
  virtual void flush() = 0;
  virtual void finish() = 0;
  /// What is queued from here on begins after these have ended.
  virtual void begin_after(const Events& events) = 0;
  /// Moves whole memories to the host or to the device in one command; `done` may be null.
  virtual void migrate(std::span<Memory* const> memories, bool to_host, Event* done) = 0;
  /// Its commands take no simulated time: who gives them advances the clock.
  virtual void stop_timing() {}
};

/// Bytes of a device. Commands are queued; sizes and offsets in bytes; `done` may be null.
class Memory : public Interface {
 public:
  virtual void write(Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
                     Event* done) = 0;
  virtual void read(Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
                    Event* done) const = 0;
  /// From byte `from` here to byte `to` there; of another memory of the same kind.
  virtual void copy_to(Queue& queue, Memory& other, std::size_t bytes, std::size_t from,
                       std::size_t to) const = 0;
  virtual void fill(Queue& queue, std::byte value, std::size_t bytes, std::size_t offset) = 0;
  virtual std::byte* map(Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                         Event* done) = 0;
  virtual void unmap(Queue& queue, std::byte* mapped, Event* done) = 0;
  /// What other libraries of this process know it by; null where there is nothing.
  [[nodiscard]] virtual void* address() const { return nullptr; }
  /// Where it begins among the board's physical addresses, for what moves data beside kernels. Throws Refusal
  /// where the runtime does not say.
  [[nodiscard]] virtual std::uint64_t physical_address() const {
    throw Refusal("physical addresses of a board, which only XRT natively tells");
  }
  /// What other GPUs of the host reach it by, of MemoryKind::kPeer.
  [[nodiscard]] virtual cuda::PeerMemory peer() const { return {}; }
  /// A view that keeps what is under it alive.
  [[nodiscard]] virtual std::shared_ptr<Memory> part(std::size_t bytes, std::size_t offset) const = 0;
};

/// A kernel and the arguments that it will be started with.
class Kernel : public Interface {
 public:
  virtual void set_memory(unsigned index, const Memory& memory) = 0;
  virtual void set_number(unsigned index, const void* value, std::size_t bytes) = 0;
  /// Which of a program's replicas of this kernel it stands for: what is started on one runs in turn.
  virtual void set_replica(int /*number*/) {}
  /// `after` and `done` may be null.
  virtual void start(Queue& queue, const Geometry& geometry, const Events* after, Event* done) const = 0;
  /// None where there is no telling.
  [[nodiscard]] virtual std::optional<std::size_t> argument_count() const = 0;
  /// None where the runtime has not kept them.
  [[nodiscard]] virtual std::optional<std::vector<TakenArgument>> arguments() const = 0;
  /// Of its work-groups, which may be fewer than those of other kernels on the device; none where there is no
  /// telling.
  [[nodiscard]] virtual std::optional<std::size_t> most_work_items() const { return std::nullopt; }
};

class Program : public Interface {
 public:
  /// Null where there is none of this name.
  [[nodiscard]] virtual std::unique_ptr<Kernel> kernel(const std::string& name) const = 0;
  /// Of all its kernels, with a semicolon between two.
  [[nodiscard]] virtual std::string kernel_names() const = 0;
  [[nodiscard]] virtual std::string binary() const = 0;
};

/// An opened device.
class Device : public Interface {
 public:
  [[nodiscard]] virtual std::shared_ptr<Queue> queue(bool profiling) const = 0;
  /// One whose commands run as they can, each after those that it names; null where the runtime has none.
  [[nodiscard]] virtual std::shared_ptr<Queue> unordered_queue(bool /*profiling*/) const { return nullptr; }
  /// Throws Error (environment) where there is no room.
  [[nodiscard]] virtual std::shared_ptr<Memory> allocate(std::size_t bytes, MemoryKind kind,
                                                         const Placement& placement) const = 0;
  /// Memory of a device over bytes of the host as they lie, aligned or not, which outlive it: a runtime may
  /// do without copies. Null where the runtime takes no memory of others. Throws as `allocate`.
  [[nodiscard]] virtual std::shared_ptr<Memory> over(std::span<std::byte> /*host*/,
                                                     const Placement& /*placement*/) const {
    return nullptr;
  }
  /// Memory of this GPU, or of another one of the host that this one reaches, for kernels. Null where the
  /// runtime has no such. Throws as `allocate`.
  [[nodiscard]] virtual std::shared_ptr<Memory> over_block(
      const std::shared_ptr<const cuda::Block>& /*block*/) const {
    return nullptr;
  }
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) const = 0;
  /// Has the runtime pin whole pages of the host for as long as the result lives, before which they are not
  /// given back. Nobody else may touch them meanwhile: a runtime may copy them to and fro. Throws Error
  /// (environment) where it refuses.
  [[nodiscard]] virtual std::shared_ptr<void> pin(std::span<std::byte> pages) const = 0;
  /// Both throw BuildFailure.
  [[nodiscard]] virtual std::shared_ptr<const Program> build(const std::string& source,
                                                             const std::string& options) const = 0;
  [[nodiscard]] virtual std::shared_ptr<const Program> load(const std::string& binary) const = 0;
  /// XRT's handle of its driver, for other libraries that drive the same board; null elsewhere.
  [[nodiscard]] virtual void* driver_handle() const { return nullptr; }
};

}  // namespace backend

/// A built or loaded program.
using Program = std::shared_ptr<const backend::Program>;

/// What a runtime refused and with which code, "clFinish with CL_OUT_OF_RESOURCES", and what to do about it.
struct RefusedCall {
  std::string call;
  std::string remedy;
};
/// Nothing where the error is not a runtime's.
std::optional<RefusedCall> refusal_of(const std::exception& error);

}  // namespace fabricmark::device
