#include "device/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::device {

namespace {

/// Throws Error (environment) before a large piece of the host's memory is taken that this process cannot
/// have: the system would end it when the pages are touched.
void require_room(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{64} << 20;
  if (bytes < kLarge) return;
  for (const MemoryRoom& room : {host_memory_room(), address_room()}) {
    if (bytes <= room.bytes) continue;
    throw environment_failure(std::to_string(bytes) + " B of memory are wanted " + room.where +
                                  ", which has " + std::to_string(room.bytes >> 20) + " MiB left",
                              "choose a smaller size or fewer ranks");
  }
}

}  // namespace

void* allocate_pages(std::size_t bytes) {
  require_room(bytes);
  const bool is_large = bytes >= kHugePageBytes;
  void* pointer = nullptr;
  const std::size_t whole = whole_pages(std::max<std::size_t>(bytes, 1));
  if (posix_memalign(&pointer, is_large ? kHugePageBytes : kPageBytes, whole) != 0) throw std::bad_alloc();
  // A wish: where the system grants it, copies and pinning meet a page for every 2 MiB instead of every 4
  // KiB.
  if (is_large) madvise(pointer, whole, MADV_HUGEPAGE);
  return pointer;
}

namespace {

std::atomic<bool> keeps_pages = false;

}  // namespace

void keep_pages() noexcept { keeps_pages = true; }

void release_pages(void* pointer) {
  if (!keeps_pages) std::free(pointer);
}

std::shared_ptr<void> reserve_pages(std::size_t bytes) {
  const std::size_t whole = whole_pages(std::max<std::size_t>(bytes, 1));
  void* const pointer = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, /*offset=*/0);
  if (pointer == MAP_FAILED) throw std::bad_alloc();
  return {pointer, [whole](void* pages) { munmap(pages, whole); }};
}

void ask_for_huge_pages(void* memory, std::size_t bytes) {
  if (bytes < 2 * kHugePageBytes) return;
  void* inner = memory;
  std::size_t left = bytes;
  if (std::align(kHugePageBytes, kHugePageBytes, inner, left) != nullptr) {
    madvise(inner, left / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  }
}

MemoryKind memory_kind(const std::string& name) {
  if (name == "buffer") return MemoryKind::kBuffer;
  if (name == "host-pointer") return MemoryKind::kHostPointer;
  if (name == "svm") return MemoryKind::kSvm;
  if (name == "peer") return MemoryKind::kPeer;
  throw bad_use("--memory '" + name + "' is unknown", "use buffer, host-pointer, svm or peer");
}

PinnedMemory::PinnedMemory(const Device& device, std::size_t bytes)
    : data_(device.implementation().allocate_pinned(std::max<std::size_t>(bytes, 1))), bytes_(bytes) {}

void PinnedMemory::reserve(const Device& device, std::size_t bytes) {
  if (this->bytes() < bytes) *this = PinnedMemory(device, bytes);
}

bool wants_pinned_memory(const DeviceInfo& info) {
  return info.device_class == DeviceClass::kGpu && !info.shares_host_memory;
}

HostMemory::HostMemory(const Device& device, std::size_t bytes) {
  if (wants_pinned_memory(device.info())) {
    try {
      pinned_ = PinnedMemory(device, bytes);
      return;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): slower copies are better than none
    }
  }
  if (device.info().is_dry_run) {
    reserved_ = reserve_pages(bytes);
    return;
  }
  pages_.reset(allocate_pages(bytes));
}

namespace {

MemorySpace space_of(const DeviceInfo& info, MemoryKind kind) {
  if (info.is_dry_run) return MemorySpace::kDryRun;
  return kind == MemoryKind::kSvm ? MemorySpace::kShared : MemorySpace::kDeviceBank;
}

}  // namespace

Buffer::Buffer(const Device& device, std::size_t bytes, MemoryKind kind, const Placement& placement)
    : bytes_(bytes),
      alignment_(device.info().sub_buffer_alignment_bytes),
      space_(space_of(device.info(), kind)) {
  if (kind == MemoryKind::kSvm && !device.info().has_svm) {
    throw bad_use(device.info().name + " offers no shared virtual memory", "use --memory buffer");
  }
  if (kind == MemoryKind::kPeer && !device.info().has_peer_memory) {
    throw bad_use(device.info().name + " offers no memory that other GPUs reach",
                  "use --memory buffer and --transport host");
  }
  if (device.info().is_in_host_memory() && !device.info().is_dry_run) require_room(bytes);
  Guards::Guarded guarded = device.guards().allocate(device, bytes, kind, placement);
  memory_ = std::move(guarded.memory);
  zone_ = std::move(guarded.zone);
}

void Buffer::require_within(std::size_t bytes, std::size_t offset) const {
  if (offset <= bytes_ && bytes <= bytes_ - offset) return;
  throw bad_use("a copy of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                    " does not fit a buffer of " + std::to_string(bytes_),
                "correct its formula in kernel.toml, or the host code");
}

void Buffer::write(const Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
                   Event* done) {
  require_within(bytes, offset);
  memory_->write(queue.implementation(), source, bytes, offset, done);
}

void Buffer::read(const Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
                  Event* done) const {
  require_within(bytes, offset);
  memory_->read(queue.implementation(), destination, bytes, offset, done);
}

void Buffer::copy_to(const Queue& queue, Buffer& other) const { copy_to(queue, other, bytes_, 0, 0); }

void Buffer::copy_to(const Queue& queue, Buffer& other, std::size_t bytes, std::size_t from,
                     std::size_t to) const {
  require_within(bytes, from);
  other.require_within(bytes, to);
  memory_->copy_to(queue.implementation(), *other.memory_, bytes, from, to);
}

void Buffer::fill(const Queue& queue, std::byte value) {
  // Not at once: of 2^31 bytes and more, NVIDIA's runtime never ends or fails (issue 395 of pyopencl).
  for (std::size_t start = 0; start < bytes_; start += kFilledBytes) {
    memory_->fill(queue.implementation(), value, std::min(kFilledBytes, bytes_ - start), start);
  }
}

void Buffer::migrate(const Queue& queue, bool to_host) { device::migrate(queue, {this, 1}, to_host); }

std::byte* Buffer::map(const Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                       Event* done) {
  return memory_->map(queue.implementation(), for_writing, bytes, offset, done);
}

void Buffer::unmap(const Queue& queue, std::byte* mapped, Event* done) {
  memory_->unmap(queue.implementation(), mapped, done);
}

Buffer Buffer::part(std::size_t offset, std::size_t bytes) const {
  if (offset % alignment_ != 0 || offset + bytes > bytes_) {
    throw bad_use("a part of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                      " does not fit a buffer of " + std::to_string(bytes_) + " bytes",
                  "start at a multiple of " + std::to_string(alignment_) + " bytes inside the buffer");
  }
  Buffer view(memory_->part(bytes, offset), bytes, alignment_, space_);
  view.zone_ = zone_;
  return view;
}

void migrate(const Queue& queue, std::span<const Buffer> buffers, bool to_host, Event* done) {
  std::vector<backend::Memory*> memories;
  for (const Buffer& one : buffers) memories.push_back(one.memory_.get());
  queue.implementation().migrate(memories, to_host, done);
}

Buffer buffer_over(const Device& device, std::span<std::byte> host, const Placement& placement) {
  const std::shared_ptr<backend::Memory> memory = device.implementation().over(host, placement);
  if (!memory) {
    throw bad_use("the runtime of " + device.info().name + " makes no buffers over memory of the host",
                  "leave out what needs them, or use OpenCL for this device");
  }
  return {memory, host.size(), device.info().sub_buffer_alignment_bytes,
          space_of(device.info(), MemoryKind::kHostPointer)};
}

Buffer buffer_over(const Device& device, const cuda::PeerMemory& peer, std::size_t bytes) {
  const std::shared_ptr<backend::Memory> whole = device.implementation().over_block(peer.block);
  if (!whole) {
    throw bad_use("the runtime of " + device.info().name + " makes no buffers over memory of other GPUs",
                  "use --memory buffer and --transport host");
  }
  return {whole->part(bytes, peer.offset), bytes, device.info().sub_buffer_alignment_bytes,
          space_of(device.info(), MemoryKind::kPeer)};
}

}  // namespace fabricmark::device
