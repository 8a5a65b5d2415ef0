#include <sys/mman.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/watchdog.hpp"
#include "device/memory.hpp"
#include "device/opencl/adopted.hpp"
#include "device/opencl/bank.hpp"
#include "device/opencl/opencl.hpp"
#include "device/opencl/peer.hpp"

namespace fabricmark::device::opencl {

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
constexpr cl_mem_flags kIntelHeterogeneous = 1U << 19;

/// Whether not even a few bytes can be moved in a context any more, as after a kernel that touched memory
/// outside of its buffers on a GPU of NVIDIA: what fails then has nothing to do with sizes.
bool is_corrupted(const cl::Context& context, const cl::Device& device) {
  try {
    const cl::Buffer few(context, CL_MEM_READ_WRITE, sizeof(cl_int));
    const cl_int number = 0;
    cl::CommandQueue(context, device).enqueueWriteBuffer(few, CL_TRUE, 0, sizeof(number), &number);
    return false;
  } catch (const cl::Error& error) {
    return error.err() != CL_MEM_OBJECT_ALLOCATION_FAILURE && error.err() != CL_OUT_OF_HOST_MEMORY;
  }
}

Error no_room(const DeviceInfo& info, std::size_t bytes, const std::string& why) {
  return environment_failure(
      info.name + " has no room for a buffer of " + std::to_string(bytes) + " bytes (" + why + ")",
      "choose a smaller size or another device");
}

/// Of a call that failed while memory was allocated.
Error failed_allocation(const DeviceInfo& info, const cl::Context& context, std::size_t bytes,
                        const cl::Error& error) {
  const bool is_size = error.err() == CL_INVALID_BUFFER_SIZE || error.err() == CL_OUT_OF_HOST_MEMORY;
  if (is_size || !is_corrupted(context, context.getInfo<CL_CONTEXT_DEVICES>().front()))
    return no_room(info, bytes, error_name(error.err()));
  return environment_failure(info.name + " does nothing more after an earlier failure, such as " +
                                 error.what() + " (" + error_name(error.err()) + ")",
                             remedy_for(CL_OUT_OF_RESOURCES));
}

/// For a buffer that nothing has touched yet. Where the device's memory is the host's, a runtime takes it in
/// pages of 4 KiB. No effect on other devices.
void ask_for_huge_pages(const DeviceInfo& info, const cl::CommandQueue& queue, const cl::Buffer& memory,
                        std::size_t bytes) {
  if (!info.is_in_host_memory() || bytes < 2 * kHugePageBytes) return;
  void* const mapped = queue.enqueueMapBuffer(memory, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, bytes);
  device::ask_for_huge_pages(mapped, bytes);
  queue.enqueueUnmapMemObject(memory, mapped);
  queue.finish();
}

/// XRT allocates a buffer on the board when a kernel first takes it, and copies to it then what the host has
/// written. Of several kernels that are started at once, and take the same one, all but the first begin
/// before that copy has ended. So a buffer whose place is known has its memory from the beginning, and the
/// host's copies go there.
void settle(const cl::Context& context, const cl::Device& device, const cl::Buffer& memory) {
  const cl::CommandQueue queue(context, device);
  const std::vector<cl::Memory> objects{memory};
  queue.enqueueMigrateMemObjects(objects, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
  queue.finish();
}

/// Fills that end behind these bytes go through a view.
constexpr std::size_t kFarBytes = std::size_t{1} << 31;

void check(cl_int code, const char* call) { cl::detail::errHandler(code, call); }

cl_map_flags map_flags(bool for_writing) {
  return for_writing ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
}

/// What fills copy. Some runtimes read the pattern after the call has returned (AMD's): so it is none of a
/// caller's, and never goes.
constexpr auto kPatterns = [] {
  std::array<cl_uchar, 256> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<cl_uchar>(i);
  return bytes;
}();

const cl_uchar* pattern_of(std::byte value) { return &kPatterns[std::to_integer<std::size_t>(value)]; }

/// A memory object of OpenCL; `host` is the memory under one over a host pointer, `block` what other GPUs
/// reach, and both outlive it. A part of it is one too, and knows the whole: OpenCL makes no parts of parts.
class BufferMemory : public Memory {
 public:
  BufferMemory(std::shared_ptr<void> host, cl::Buffer memory,
               std::shared_ptr<const cuda::Block> block = nullptr)
      : host_(std::move(host)), block_(std::move(block)), memory_(std::move(memory)), whole_(memory_) {}
  BufferMemory(const BufferMemory& whole, std::size_t bytes, std::size_t offset)
      : host_(whole.host_),
        block_(whole.block_),
        memory_(view(whole.whole_, bytes, whole.start_ + offset)),
        whole_(whole.whole_),
        start_(whole.start_ + offset) {}
  void write(backend::Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
             Event* done) override {
    with_event(queue, done, [&](cl::Event* event) {
      handle(queue).enqueueWriteBuffer(memory_, CL_FALSE, offset, bytes, source, nullptr, event);
    });
  }
  void read(backend::Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
            Event* done) const override {
    with_event(queue, done, [&](cl::Event* event) {
      handle(queue).enqueueReadBuffer(memory_, CL_FALSE, offset, bytes, destination, nullptr, event);
    });
  }
  void copy_to(backend::Queue& queue, backend::Memory& other, std::size_t bytes, std::size_t from,
               std::size_t to) const override {
    const Watched watched(Awaiting::kDevice);
    handle(queue).enqueueCopyBuffer(memory_, dynamic_cast<BufferMemory&>(other).memory_, from, to, bytes);
  }
  void fill(backend::Queue& queue, std::byte value, std::size_t bytes, std::size_t offset) override {
    // NVIDIA's runtime loses its queue where a fill begins at 2^31 bytes or more: there through a view.
    const bool is_far = offset + bytes > kFarBytes;
    const Watched watched(Awaiting::kDevice);
    const cl::Buffer filled = is_far ? view(whole_, bytes, start_ + offset) : memory_;
    check(clEnqueueFillBuffer(handle(queue)(), filled(), pattern_of(value), sizeof(cl_uchar),
                              is_far ? 0 : offset, bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
  }
  std::byte* map(backend::Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                 Event* done) override {
    std::byte* mapped = nullptr;
    with_event(queue, done, [&](cl::Event* event) {
      mapped = static_cast<std::byte*>(
          handle(queue).enqueueMapBuffer(memory_, for_writing ? CL_TRUE : CL_FALSE, map_flags(for_writing),
                                         offset, bytes, /*events=*/nullptr, event));
    });
    return mapped;
  }
  void unmap(backend::Queue& queue, std::byte* mapped, Event* done) override {
    with_event(queue, done, [&](cl::Event* event) {
      handle(queue).enqueueUnmapMemObject(memory_, mapped, /*events=*/nullptr, event);
    });
  }
  [[nodiscard]] void* address() const override { return memory_(); }
  [[nodiscard]] cuda::PeerMemory peer() const override { return {block_, start_}; }
  [[nodiscard]] std::shared_ptr<backend::Memory> part(std::size_t bytes, std::size_t offset) const override {
    return std::make_shared<BufferMemory>(*this, bytes, offset);
  }
  void set_argument(cl::Kernel& kernel, cl_uint index) const override { kernel.setArg(index, memory_); }
  [[nodiscard]] const cl::Buffer& object() const { return memory_; }

 private:
  static cl::Buffer view(cl::Buffer whole, std::size_t bytes, std::size_t start) {
    const cl_buffer_region region{start, bytes};
    return whole.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
  }

  std::shared_ptr<void> host_;
  std::shared_ptr<const cuda::Block> block_;
  cl::Buffer memory_;
  cl::Buffer whole_;
  std::size_t start_ = 0;  // in it
};

/// Shared virtual memory. The bindings at OpenCL 1.2 do not know it: the C interface.
class SvmMemory : public Memory {
 public:
  explicit SvmMemory(std::shared_ptr<std::byte> bytes) : bytes_(std::move(bytes)) {}
  void write(backend::Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
             Event* done) override {
    copy(queue, bytes_.get() + offset, source, bytes, done);
  }
  void read(backend::Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
            Event* done) const override {
    copy(queue, destination, bytes_.get() + offset, bytes, done);
  }
  void copy_to(backend::Queue& queue, backend::Memory& other, std::size_t bytes, std::size_t from,
               std::size_t to) const override {
    copy(queue, dynamic_cast<SvmMemory&>(other).bytes_.get() + to, bytes_.get() + from, bytes, nullptr);
  }
  void fill(backend::Queue& queue, std::byte value, std::size_t bytes, std::size_t offset) override {
    check(clEnqueueSVMMemFill(handle(queue)(), bytes_.get() + offset, pattern_of(value), sizeof(cl_uchar),
                              bytes, 0, nullptr, nullptr),
          "clEnqueueSVMMemFill");
  }
  std::byte* map(backend::Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                 Event* done) override {
    with_handle(queue, done, [&](cl_event* event) {
      check(clEnqueueSVMMap(handle(queue)(), for_writing ? CL_TRUE : CL_FALSE, map_flags(for_writing),
                            bytes_.get() + offset, bytes, 0, nullptr, event),
            "clEnqueueSVMMap");
    });
    return bytes_.get() + offset;
  }
  void unmap(backend::Queue& queue, std::byte* mapped, Event* done) override {
    with_handle(queue, done, [&](cl_event* event) {
      check(clEnqueueSVMUnmap(handle(queue)(), mapped, 0, nullptr, event), "clEnqueueSVMUnmap");
    });
  }
  [[nodiscard]] void* address() const override { return bytes_.get(); }
  [[nodiscard]] std::shared_ptr<backend::Memory> part(std::size_t /*bytes*/,
                                                      std::size_t offset) const override {
    return std::make_shared<SvmMemory>(std::shared_ptr<std::byte>(bytes_, bytes_.get() + offset));
  }
  void set_argument(cl::Kernel& kernel, cl_uint index) const override {
    check(clSetKernelArgSVMPointer(kernel(), index, bytes_.get()), "clSetKernelArgSVMPointer");
  }

 private:
  /// As with_event, of the C interface.
  template <std::invocable<cl_event*> Enqueue>
  static void with_handle(const backend::Queue& queue, Event* done, const Enqueue& enqueue) {
    with_event(queue, done, [&](cl::Event* event) {
      cl_event ended = nullptr;
      enqueue(event != nullptr ? &ended : nullptr);
      if (event != nullptr) *event = cl::Event(ended);
    });
  }
  static void copy(const backend::Queue& queue, void* to, const void* from, std::size_t bytes, Event* done) {
    with_handle(queue, done, [&](cl_event* event) {
      check(clEnqueueSVMMemcpy(handle(queue)(), CL_FALSE, to, from, bytes, 0, nullptr, event),
            "clEnqueueSVMMemcpy");
    });
  }

  std::shared_ptr<std::byte> bytes_;
};

std::shared_ptr<std::byte> shared_virtual_memory(const DeviceInfo& info, cl_context context,
                                                 std::size_t bytes) {
  void* const address = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
  if (address == nullptr) throw no_room(info, bytes, "clSVMAlloc failed");
  clRetainContext(context);
  return {static_cast<std::byte*>(address), [context](std::byte* pointer) {
            clSVMFree(context, pointer);
            clReleaseContext(context);
          }};
}

}  // namespace

BankPlacement bank_placement(const DeviceInfo& info, const Placement& placement) {
  if (info.device_class != DeviceClass::kFpga || placement.memory.kind == BoardMemory::Kind::kHost) return {};
  const int bank = placement.memory.within(placement.bank);
  const std::string makers = info.platform + " " + info.vendor;
  if (makers.find("Intel") != std::string::npos || makers.find("Altera") != std::string::npos) {
    if (placement.memory.choice == BoardMemory::Choice::kKernel)
      return {.flags = kIntelHeterogeneous, .binds = placement.kernel != nullptr};
    if (bank < 0 || bank >= kIntelChannels) return {};
    return {.flags = static_cast<cl_mem_flags>(bank + 1) << kIntelChannelShift};
  }
  if (!info.is_of_xilinx()) return {};
  // XRT's emulation puts all that asks for a bank by its number into the first one.
  if (placement.kernel != nullptr && (!placement.is_spread || info.is_emulated_board)) {
    return {.flags = kXilinxPointer,
            .needs_pointer = true,
            .pointer_flags = placement.argument,
            .by_argument = true};
  }
  if (bank < 0) return {};
  const auto index = static_cast<unsigned>(bank + placement.memory.index_offset);
  return {.flags = kXilinxPointer, .needs_pointer = true, .pointer_flags = index | kXilinxTopology};
}

std::shared_ptr<Memory> allocate(const DeviceInfo& info, const cl::Device& device, const cl::Context& context,
                                 std::size_t bytes, MemoryKind kind, const Placement& placement) {
  try {
    if (kind == MemoryKind::kSvm) {
      return std::make_shared<SvmMemory>(shared_virtual_memory(info, context(), bytes));
    }
    if (kind == MemoryKind::kHostPointer) {
      const std::shared_ptr<void> host(allocate_pages(bytes), release_pages);
      cl::Buffer memory(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, whole_pages(bytes), host.get());
      return std::make_shared<BufferMemory>(host, std::move(memory));
    }
    if (kind == MemoryKind::kPeer && bytes < kTooLargeForPeers) {
      return allocate_over(info, device, context, peer_block(info, device, bytes));
    }
    const Watched watched(Awaiting::kDevice);
    const BankPlacement place = bank_placement(info, placement);
    XilinxMemoryPointer pointer{place.pointer_flags, nullptr,
                                place.by_argument ? handle(*placement.kernel) : nullptr};
    cl::Buffer memory(context, CL_MEM_READ_WRITE | place.flags, bytes,
                      place.needs_pointer ? static_cast<void*>(&pointer) : nullptr);
    if (place.binds) {
      check(clSetKernelArg(handle(*placement.kernel), placement.argument, sizeof(cl_mem), &memory()),
            "clSetKernelArg");
    }
    if (info.is_of_xrt() && place.needs_pointer) settle(context, device, memory);
    ask_for_huge_pages(info, cl::CommandQueue(context, device), memory, bytes);
    return std::make_shared<BufferMemory>(nullptr, std::move(memory));
  } catch (const cl::Error& error) {
    throw failed_allocation(info, context, bytes, error);
  }
}

std::shared_ptr<Memory> allocate_over(const DeviceInfo& info, const cl::Device& device,
                                      const cl::Context& context,
                                      const std::shared_ptr<const cuda::Block>& block) {
  try {
    const PeerBuffer buffer = buffer_on(block, device, context);
    return std::make_shared<BufferMemory>(buffer.held, buffer.memory, block);
  } catch (const cl::Error& error) {
    throw failed_allocation(info, context, block->bytes(), error);
  }
}

std::shared_ptr<Memory> allocate_over(const DeviceInfo& info, const cl::Context& context,
                                      std::span<std::byte> host, const Placement& placement) {
  const BankPlacement place = bank_placement(info, placement);
  XilinxMemoryPointer pointer{place.pointer_flags, host.data(),
                              place.by_argument ? handle(*placement.kernel) : nullptr};
  try {
    return std::make_shared<BufferMemory>(
        nullptr, cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR | place.flags, host.size(),
                            place.needs_pointer ? static_cast<void*>(&pointer) : host.data()));
  } catch (const cl::Error& error) {
    throw failed_allocation(info, context, host.size(), error);
  }
}

/// SVM stays where it is.
void Queue::migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) {
  std::vector<cl::Memory> objects;
  for (const backend::Memory* const one : memories) {
    if (const auto* const known = dynamic_cast<const BufferMemory*>(one)) objects.push_back(known->object());
  }
  if (objects.empty()) {
    if (done != nullptr) *done = Event();
    return;
  }
  with_event(*this, done, [&](cl::Event* event) {
    handle().enqueueMigrateMemObjects(objects, to_host ? CL_MIGRATE_MEM_OBJECT_HOST : 0, /*events=*/nullptr,
                                      event);
  });
}

std::shared_ptr<std::byte> allocate_pinned(const DeviceInfo& info, const cl::Device& device,
                                           const cl::Context& context, std::size_t bytes) {
  try {
    const cl::Buffer memory(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
    const cl::CommandQueue queue(context, device);
    void* const mapped = queue.enqueueMapBuffer(memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes);
    // The C interface, because a destructor must not throw.
    return {static_cast<std::byte*>(mapped), [memory, queue](std::byte* pointer) {
              clEnqueueUnmapMemObject(queue(), memory(), pointer, 0, nullptr, nullptr);
              clFinish(queue());
            }};
  } catch (const cl::Error& error) {
    throw failed_allocation(info, context, bytes, error);
  }
}

std::shared_ptr<void> pin(const cl::Device& device, const cl::Context& context, std::span<std::byte> pages) {
  try {
    const auto lock = setup_lock();
    cl::Buffer memory(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, pages.size(), pages.data());
    cl::CommandQueue queue(context, device);
    // As long as it is mapped the host's pages are the memory's, and runtimes copy from and to them as from
    // memory that they have pinned by themselves.
    void* const mapped = queue.enqueueMapBuffer(memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, pages.size());
    return {mapped, [memory, queue](void* pointer) mutable {
              const auto lock_at_end = setup_lock();  // while other ranks make queues
              clEnqueueUnmapMemObject(queue(), memory(), pointer, 0, nullptr, nullptr);
              clFinish(queue());
              const cl::CommandQueue ended(std::move(queue));
              const cl::Buffer released(std::move(memory));
            }};
  } catch (const cl::Error& error) {
    throw environment_failure("the runtime does not pin " + std::to_string(pages.size()) +
                                  " bytes of the host's memory (" + error_name(error.err()) + ")",
                              "use less of it, or another device");
  }
}

Buffer adopted(const Device& device, cl_context context, cl_mem memory) {
  cl_context of_memory = nullptr;
  cl_mem_object_type type = 0;
  std::size_t bytes = 0;
  const bool is_known =
      memory != nullptr &&
      clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(cl_context), &of_memory, nullptr) == CL_SUCCESS &&
      clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof(type), &type, nullptr) == CL_SUCCESS &&
      clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(bytes), &bytes, nullptr) == CL_SUCCESS;
  if (!is_known || type != CL_MEM_OBJECT_BUFFER) {
    throw bad_use("the memory object is no buffer", "give one made by clCreateBuffer");
  }
  if (of_memory != context) {
    throw bad_use("the memory object is one of another context",
                  "give one of the context that the messages were begun with");
  }
  return {std::make_shared<BufferMemory>(nullptr, cl::Buffer(memory, /*retainObject=*/true)), bytes,
          device.info().sub_buffer_alignment_bytes, MemorySpace::kDeviceBank};
}

Event adopted(cl_event event) {
  const auto state = std::make_shared<EventState>();
  state->event = cl::Event(event, /*retainObject=*/true);
  return Event(state);
}

}  // namespace fabricmark::device::opencl
