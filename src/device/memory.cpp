#include "device/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::device {

namespace {

// Xilinx' extension, as in XRT's CL/cl_ext_xilinx.h; declared here because the header comes with XRT only.
struct XilinxMemoryPointer {
  unsigned flags;
  void* host_pointer;
  void* parameter;
};
constexpr cl_mem_flags kXilinxPointer = 1U << 31;
constexpr unsigned kXilinxTopology = 1U << 31;

// Intel's CL_CHANNEL_1_INTELFPGA to CL_CHANNEL_7_INTELFPGA: the channel in bits 16 to 18.
constexpr int kIntelChannelShift = 16;
constexpr int kIntelChannels = 7;

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

Error no_room(const Device& device, std::size_t bytes, const std::string& why) {
  return environment_failure(
      device.info().name + " has no room for a buffer of " + std::to_string(bytes) + " bytes (" + why + ")",
      "choose a smaller size or another device");
}

/// For a buffer that nothing has touched yet. Where the device's memory is the host's, a runtime takes it in
/// pages of 4 KiB; with huge ones, which the system grants or not, PoCL's kernels stream a tenth faster. No
/// effect on other devices.
void ask_for_huge_pages(const Device& device, const cl::Buffer& memory, std::size_t bytes) {
  if (!device.info().is_in_host_memory() || bytes < 2 * kHugePageBytes) return;
  const cl::CommandQueue queue = device.queue();
  void* const mapped = queue.enqueueMapBuffer(memory, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, bytes);
  void* inner = mapped;
  std::size_t left = bytes;
  if (std::align(kHugePageBytes, kHugePageBytes, inner, left) != nullptr) {
    madvise(inner, left / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  }
  queue.enqueueUnmapMemObject(memory, mapped);
  queue.finish();
}

void copy_shared(const cl::CommandQueue& queue, void* to, const void* from, std::size_t bytes,
                 cl::Event* event) {
  cl_event done = nullptr;
  cl::detail::errHandler(
      clEnqueueSVMMemcpy(queue(), CL_FALSE, to, from, bytes, 0, nullptr, event ? &done : nullptr),
      "clEnqueueSVMMemcpy");
  if (event != nullptr) *event = cl::Event(done);
}

}  // namespace

void* allocate_pages(std::size_t bytes) {
  const bool is_large = bytes >= kHugePageBytes;
  void* pointer = nullptr;
  const std::size_t whole = whole_pages(std::max<std::size_t>(bytes, 1));
  if (posix_memalign(&pointer, is_large ? kHugePageBytes : kPageBytes, whole) != 0) throw std::bad_alloc();
  // A wish: where the system grants it, copies and pinning meet a page for every 2 MiB instead of every 4
  // KiB.
  if (is_large) madvise(pointer, whole, MADV_HUGEPAGE);
  return pointer;
}

void release_pages(void* pointer) { std::free(pointer); }

MemoryKind memory_kind(const std::string& name) {
  if (name == "buffer") return MemoryKind::kBuffer;
  if (name == "host-pointer") return MemoryKind::kHostPointer;
  if (name == "svm") return MemoryKind::kSvm;
  throw bad_use("--memory '" + name + "' is unknown", "use buffer, host-pointer or svm");
}

BankPlacement bank_placement(const DeviceInfo& info, int bank) {
  if (bank < 0 || info.device_class != DeviceClass::kFpga) return {};
  const std::string makers = info.platform + " " + info.vendor;
  if (makers.find("Intel") != std::string::npos || makers.find("Altera") != std::string::npos) {
    if (bank >= kIntelChannels) return {};  // more banks (HBM) are chosen by the kernel's arguments there
    return {.flags = static_cast<cl_mem_flags>(bank + 1) << kIntelChannelShift};
  }
  if (makers.find("Xilinx") != std::string::npos || makers.find("AMD") != std::string::npos) {
    return {.flags = kXilinxPointer,
            .needs_topology = true,
            .topology = static_cast<unsigned>(bank) | kXilinxTopology};
  }
  return {};
}

PinnedMemory::PinnedMemory(const Device& device, std::size_t bytes) : queue_(device.queue()), bytes_(bytes) {
  try {
    memory_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                         std::max<std::size_t>(bytes, 1));
    data_ = static_cast<std::byte*>(queue_.enqueueMapBuffer(memory_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                            std::max<std::size_t>(bytes, 1)));
  } catch (const cl::Error& error) {
    throw no_room(device, bytes, error_name(error.err()));
  }
}

PinnedMemory::~PinnedMemory() { release(); }

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept { *this = std::move(other); }

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  memory_ = std::move(other.memory_);
  queue_ = std::move(other.queue_);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void PinnedMemory::release() {
  if (data_ == nullptr) return;
  // The C interface, because a destructor must not throw.
  clEnqueueUnmapMemObject(queue_(), memory_(), data_, 0, nullptr, nullptr);
  clFinish(queue_());
  data_ = nullptr;
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
  pages_.reset(allocate_pages(bytes));
}

Buffer::Buffer(const Device& device, std::size_t bytes, MemoryKind kind, int bank)
    : bytes_(bytes), alignment_(device.info().sub_buffer_alignment_bytes) {
  try {
    if (kind == MemoryKind::kSvm) {
      if (!device.info().has_svm) {
        throw bad_use(device.info().name + " offers no shared virtual memory", "use --memory buffer");
      }
      const cl_context context = device.context()();
      void* address = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
      if (address == nullptr) throw no_room(device, bytes, "clSVMAlloc failed");
      clRetainContext(context);
      host_ = std::shared_ptr<void>(address, [context](void* pointer) {
        clSVMFree(context, pointer);
        clReleaseContext(context);
      });
      shared_ = static_cast<std::byte*>(address);
    } else if (kind == MemoryKind::kHostPointer) {
      host_ = std::shared_ptr<void>(allocate_pages(bytes), release_pages);
      memory_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, whole_pages(bytes),
                           host_.get());
    } else {
      const BankPlacement placement = bank_placement(device.info(), bank);
      XilinxMemoryPointer pointer{placement.topology, nullptr, nullptr};
      memory_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE | placement.flags, bytes,
                           placement.needs_topology ? static_cast<void*>(&pointer) : nullptr);
      ask_for_huge_pages(device, memory_, bytes);
    }
  } catch (const cl::Error& error) {
    throw no_room(device, bytes, error_name(error.err()));
  }
}

void Buffer::write(const cl::CommandQueue& queue, const void* source, std::size_t bytes, std::size_t offset,
                   cl::Event* event) {
  if (shared_ != nullptr) {
    copy_shared(queue, shared_ + offset, source, bytes, event);
  } else {
    queue.enqueueWriteBuffer(memory_, CL_FALSE, offset, bytes, source, nullptr, event);
  }
}

void Buffer::read(const cl::CommandQueue& queue, void* destination, std::size_t bytes, std::size_t offset,
                  cl::Event* event) const {
  if (shared_ != nullptr) {
    copy_shared(queue, destination, shared_ + offset, bytes, event);
  } else {
    queue.enqueueReadBuffer(memory_, CL_FALSE, offset, bytes, destination, nullptr, event);
  }
}

void Buffer::copy_to(const cl::CommandQueue& queue, Buffer& other) const {
  queue.enqueueCopyBuffer(memory_, other.memory_, 0, 0, bytes_);
}

void Buffer::fill(const cl::CommandQueue& queue, std::byte value) {
  const auto pattern = std::to_integer<cl_uchar>(value);
  // Not at once: from 2^31 bytes on, NVIDIA's runtime never ends or fails (issue 395 of pyopencl).
  for (std::size_t start = 0; start < bytes_; start += kFilledBytes) {
    const std::size_t bytes = std::min(kFilledBytes, bytes_ - start);
    if (shared_ == nullptr) {
      queue.enqueueFillBuffer(memory_, pattern, start, bytes);
      continue;
    }
    cl::detail::errHandler(
        clEnqueueSVMMemFill(queue(), shared_ + start, &pattern, sizeof(pattern), bytes, 0, nullptr, nullptr),
        "clEnqueueSVMMemFill");
  }
}

void Buffer::migrate(const cl::CommandQueue& queue, bool to_host) {
  if (shared_ != nullptr) return;
  queue.enqueueMigrateMemObjects({memory_}, to_host ? CL_MIGRATE_MEM_OBJECT_HOST : 0);
}

std::byte* Buffer::map(const cl::CommandQueue& queue, bool for_writing, std::size_t bytes,
                       std::size_t offset) {
  const cl_map_flags flags = for_writing ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
  const cl_bool is_blocking = for_writing ? CL_TRUE : CL_FALSE;
  if (shared_ == nullptr) {
    return static_cast<std::byte*>(queue.enqueueMapBuffer(memory_, is_blocking, flags, offset, bytes));
  }
  cl::detail::errHandler(
      clEnqueueSVMMap(queue(), is_blocking, flags, shared_ + offset, bytes, 0, nullptr, nullptr),
      "clEnqueueSVMMap");
  return shared_ + offset;
}

void Buffer::unmap(const cl::CommandQueue& queue, std::byte* mapped) {
  if (shared_ == nullptr) {
    queue.enqueueUnmapMemObject(memory_, mapped);
  } else {
    cl::detail::errHandler(clEnqueueSVMUnmap(queue(), mapped, 0, nullptr, nullptr), "clEnqueueSVMUnmap");
  }
}

Buffer Buffer::part(std::size_t offset, std::size_t bytes) const {
  if (offset % alignment_ != 0 || offset + bytes > bytes_) {
    throw bad_use("a part of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                      " does not fit a buffer of " + std::to_string(bytes_) + " bytes",
                  "start at a multiple of " + std::to_string(alignment_) + " bytes inside the buffer");
  }
  Buffer view;
  view.bytes_ = bytes;
  view.alignment_ = alignment_;
  view.host_ = host_;
  if (shared_ != nullptr) {
    view.shared_ = shared_ + offset;
  } else {
    const cl_buffer_region region{offset, bytes};
    view.memory_ =
        cl::Buffer(memory_).createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
  }
  return view;
}

void Buffer::set_argument(cl::Kernel& kernel, cl_uint index) const {
  if (shared_ != nullptr) {
    cl::detail::errHandler(clSetKernelArgSVMPointer(kernel(), index, shared_), "clSetKernelArgSVMPointer");
  } else {
    kernel.setArg(index, memory_);
  }
}

}  // namespace fabricmark::device
