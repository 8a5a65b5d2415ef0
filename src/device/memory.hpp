#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "device/device.hpp"
#include "device/guards.hpp"
#include "device/memory_space.hpp"
#include "device/queue.hpp"

namespace fabricmark::device {

/// Memory pages are 4 KiB on every host of interest; runtimes copy arrays that do not start on one.
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Bytes of a buffer that are filled by one command.
inline constexpr std::size_t kFilledBytes = std::size_t{128} << 20;

/// Page-aligned bytes; throws std::bad_alloc. Used by HostArray and by buffers over host memory.
void* allocate_pages(std::size_t bytes);
void release_pages(void* pointer);
/// From now on pages stay when they are released: somebody else, such as a library that carries messages, may
/// touch them still, and the process is about to end.
void keep_pages() noexcept;
/// Bytes of which the system keeps only those that somebody touches, without a look at how many there are:
/// for arrays that nobody does. Throws std::bad_alloc.
std::shared_ptr<void> reserve_pages(std::size_t bytes);
/// For memory of the host that nothing has touched yet: with huge pages, which the system grants or not,
/// PoCL's kernels stream a tenth faster.
void ask_for_huge_pages(void* memory, std::size_t bytes);
/// `bytes` rounded up to whole pages.
constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// Host memory that the runtime has pinned, so that a device can reach it by itself (CL_MEM_ALLOC_HOST_PTR,
/// mapped); on a CPU it is memory like any other.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const Device& device, std::size_t bytes);

  /// Takes other memory where this is less than `bytes`; what it held is lost.
  void reserve(const Device& device, std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const { return data_ ? bytes_ : 0; }

 private:
  std::shared_ptr<std::byte> data_;
  std::size_t bytes_ = 0;
};

/// Pages of the host that stay where they are, pinned for a device too for as long as this lives, which is
/// not longer than they do; a CPU reaches them anyway. Two devices, of two processes as well, may pin the
/// same memory.
class PinnedPages {
 public:
  PinnedPages() = default;
  /// `pages` starts and ends at page boundaries. Nobody touches them until it returns. Throws Error
  /// (environment) where the runtime refuses.
  PinnedPages(const Device& device, std::span<std::byte> pages) : pin_(device.implementation().pin(pages)) {}

 private:
  std::shared_ptr<void> pin_;
};

/// Whether copies of this device are faster from pinned memory: a GPU with memory of its own.
bool wants_pinned_memory(const DeviceInfo& info);

/// Bytes of the host that start at a page boundary. Not initialised.
class HostMemory {
 public:
  HostMemory() = default;
  /// Pages as the system has them. Throws std::bad_alloc.
  explicit HostMemory(std::size_t bytes) : pages_(allocate_pages(bytes)) {}
  /// Pinned where the device wants that and the runtime has as much, else pages; of a dry-run device no more
  /// than addresses. Throws std::bad_alloc.
  HostMemory(const Device& device, std::size_t bytes);

  [[nodiscard]] void* data() const {
    return is_pinned() ? pinned_.data() : reserved_ ? reserved_.get() : pages_.get();
  }
  [[nodiscard]] bool is_pinned() const { return pinned_.data() != nullptr; }

 private:
  struct Release {
    void operator()(void* pointer) const { release_pages(pointer); }
  };
  std::unique_ptr<void, Release> pages_;
  std::shared_ptr<void> reserved_;
  PinnedMemory pinned_;
};

/// Host memory as `count` elements of a trivial type. Not initialised.
template <typename T>
class HostArray {
 public:
  HostArray() = default;
  explicit HostArray(std::size_t count) : count_(count), memory_(count * sizeof(T)) {}
  /// For copies to and from the device.
  HostArray(const Device& device, std::size_t count) : count_(count), memory_(device, count * sizeof(T)) {}

  [[nodiscard]] T* data() { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const { return static_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool is_pinned() const { return memory_.is_pinned(); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] std::span<T> span() { return {data(), count_}; }
  [[nodiscard]] std::span<const T> span() const { return {data(), count_}; }

 private:
  std::size_t count_ = 0;
  HostMemory memory_;
};

/// Reads "buffer", "host-pointer", "svm" or "peer". Throws Error (bad use) otherwise.
MemoryKind memory_kind(const std::string& name);

/// Device memory of a fixed number of bytes, with guard zones around it where its device makes them. Copies
/// are queued; the caller waits on the queue.
class Buffer {
 public:
  /// Throws Error (bad use) for a memory kind that the device does not offer and Error (environment) when the
  /// device has no room.
  Buffer(const Device& device, std::size_t bytes, MemoryKind kind = MemoryKind::kBuffer,
         const Placement& placement = {});

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] MemorySpace space() const { return space_; }
  void write(const Queue& queue, const void* source, std::size_t bytes, std::size_t offset = 0,
             Event* done = nullptr);
  void read(const Queue& queue, void* destination, std::size_t bytes, std::size_t offset = 0,
            Event* done = nullptr) const;
  /// Copies all bytes into a buffer of the same size; neither is SVM.
  void copy_to(const Queue& queue, Buffer& other) const;
  /// Copies `bytes` from byte `from` into another buffer of the same kind, from its byte `to` on.
  void copy_to(const Queue& queue, Buffer& other, std::size_t bytes, std::size_t from, std::size_t to) const;
  /// Sets every byte to `value`.
  void fill(const Queue& queue, std::byte value);
  /// Sets every floating-point number to NaN, so that nothing that a kernel left can be used again.
  void poison(const Queue& queue) { fill(queue, std::byte{0xFF}); }
  /// As the function of that name, of this buffer alone.
  void migrate(const Queue& queue, bool to_host);
  /// The host's view of `bytes` from `offset`, for writing all of them or for reading; at once for writing,
  /// when the queue has come to it for reading. Until `unmap` no kernel may use them.
  std::byte* map(const Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset = 0,
                 Event* done = nullptr);
  void unmap(const Queue& queue, std::byte* mapped, Event* done = nullptr);
  /// A view of `bytes` from `offset`, a multiple of the device's alignment. Throws Error (bad use) otherwise.
  [[nodiscard]] Buffer part(std::size_t offset, std::size_t bytes) const;
  /// What other libraries of this process know it by, for them to use and never to be read through: of SVM
  /// the address of its first byte, else the runtime's handle of the memory object, which has no offsets.
  /// Null for memory that has no bytes.
  [[nodiscard]] void* address() const { return memory_->address(); }
  /// What other GPUs of the host reach it by; nothing where it is not MemoryKind::kPeer, or is too large.
  [[nodiscard]] cuda::PeerMemory peer() const { return memory_->peer(); }
  [[nodiscard]] const backend::Memory& implementation() const { return *memory_; }
  /// As what a guard zone that is broken names it.
  void name_for_guard(const std::string& kernel, const std::string& argument) const {
    name_guarded(zone_, kernel, argument);
  }

  /// What a runtime has made already, of so many bytes.
  Buffer(std::shared_ptr<backend::Memory> memory, std::size_t bytes, std::size_t alignment, MemorySpace space)
      : memory_(std::move(memory)), bytes_(bytes), alignment_(alignment), space_(space) {}

 private:
  /// Throws Error (bad use) for a copy that does not lie in the buffer.
  void require_within(std::size_t bytes, std::size_t offset) const;

  friend void migrate(const Queue& queue, std::span<const Buffer> buffers, bool to_host, Event* done);
  std::shared_ptr<backend::Memory> memory_;
  std::shared_ptr<GuardZone> zone_;  ///< null: none; parts share that of the whole
  std::size_t bytes_ = 0;
  std::size_t alignment_ = 1;
  MemorySpace space_ = MemorySpace::kDeviceBank;
};

/// Moves whole buffers to the device or to the host by one command, without a copy that the host sees. No
/// effect on SVM. Throws Error (bad use) where the runtime has no such command.
void migrate(const Queue& queue, std::span<const Buffer> buffers, bool to_host, Event* done = nullptr);

/// A buffer over bytes of the host as they lie, at the start of a page or not (CL_MEM_USE_HOST_PTR); they
/// outlive it. `placement` as in Buffer. Throws Error (bad use) where the runtime has none such.
Buffer buffer_over(const Device& device, std::span<std::byte> host, const Placement& placement = {});
/// A buffer over `bytes` of a GPU of this host, of another process's too: kernels of the device read and
/// write them as they lie, over what connects the two. Throws Error (bad use) where the runtime has none
/// such.
Buffer buffer_over(const Device& device, const cuda::PeerMemory& peer, std::size_t bytes);

}  // namespace fabricmark::device
