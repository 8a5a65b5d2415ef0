#include "device/cuda/peer_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "base/error.hpp"

namespace fabricmark::device::cuda {

namespace {

constexpr int kFileHandle = 1;          // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int kLeastGranularity = 0;    // CU_MEM_ALLOC_GRANULARITY_MINIMUM
constexpr unsigned kOwnOrder = 1;       // CU_STREAM_NON_BLOCKING: after nothing else of the context
constexpr unsigned kWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING

constexpr std::chrono::microseconds kBetweenQuestions{1};  // a question costs about as much

std::atomic<std::uint64_t> made{0};
std::atomic<std::uint64_t> gone{0};

std::size_t in_granules(const AllocationProperties& properties, std::size_t bytes) {
  std::size_t granule = 0;
  check(driver()->granularity(&granule, &properties, kLeastGranularity), "cuMemGetAllocationGranularity");
  return (std::max<std::size_t>(bytes, 1) + granule - 1) / granule * granule;
}

}  // namespace

std::shared_ptr<const Gpu> Gpu::with(const Uuid& uuid) {
  if (driver() == nullptr) return nullptr;
  int count = 0;
  check(driver()->device_count(&count), "cuDeviceGetCount");
  for (int index = 0; index < count; ++index) {
    DeviceNumber number = 0;
    Uuid own{};
    check(driver()->device(&number, index), "cuDeviceGet");
    check(driver()->device_uuid(&own, number), "cuDeviceGetUuid");
    if (!std::equal(std::begin(own.bytes), std::end(own.bytes), std::begin(uuid.bytes))) continue;
    static std::mutex mutex;
    static std::map<DeviceNumber, std::shared_ptr<const Gpu>> known;
    const std::scoped_lock lock(mutex);
    std::shared_ptr<const Gpu>& gpu = known[number];
    if (gpu) return gpu;
    ContextHandle context = nullptr;
    check(driver()->retain_context(&context, number), "cuDevicePrimaryCtxRetain");
    gpu.reset(new Gpu(number, uuid, context));
    return gpu;
  }
  return nullptr;
}

std::shared_ptr<const Block> Block::make(std::shared_ptr<const Gpu> gpu, std::size_t bytes) {
  gpu->use();
  const AllocationProperties properties{.location = {.id = gpu->number()}};
  const std::size_t whole = in_granules(properties, bytes);
  MemoryHandle handle = 0;
  const Status status = driver()->create(&handle, whole, &properties, 0);
  if (status == kOutOfMemory) {
    throw environment_failure(fmt::format("the GPU has no room for {} bytes that other GPUs reach", bytes),
                              "choose a smaller size or another device");
  }
  check(status, "cuMemCreate");
  return std::shared_ptr<const Block>(new Block(std::move(gpu), handle, whole, {}));
}

std::shared_ptr<const Block> Block::open(std::shared_ptr<const Gpu> gpu, FileDescriptor file,
                                         std::size_t bytes) {
  gpu->use();
  MemoryHandle handle = 0;
  // The interface takes the number itself in the place of an address.
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(file.number()));
  check(driver()->import_memory(&handle, number, kFileHandle), "cuMemImportFromShareableHandle");
  return std::shared_ptr<const Block>(new Block(std::move(gpu), handle, bytes, std::move(file)));
}

Block::Block(std::shared_ptr<const Gpu> gpu, MemoryHandle handle, std::size_t bytes, FileDescriptor file)
    : gpu_(std::move(gpu)), handle_(handle), bytes_(bytes), file_(std::move(file)), number_(++made) {
  const Access access{.location = {.id = gpu_->number()}};
  try {
    check(driver()->reserve(&address_, bytes_, 0, 0, 0), "cuMemAddressReserve");
    check(driver()->map(address_, bytes_, 0, handle_, 0), "cuMemMap");
    try {
      check(driver()->set_access(address_, bytes_, &access, 1), "cuMemSetAccess");
    } catch (...) {
      driver()->unmap(address_, bytes_);
      throw;
    }
  } catch (...) {
    if (address_ != 0) driver()->free_address(address_, bytes_);
    driver()->release(handle_);
    throw;
  }
}

Block::~Block() {
  // What fails here has failed before, and a destructor must not throw.
  try {
    gpu_->use();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
  }
  driver()->unmap(address_, bytes_);
  driver()->free_address(address_, bytes_);
  driver()->release(handle_);
  ++gone;
}

std::uint64_t Block::count_gone() { return gone; }

FileDescriptor Block::file() const {
  if (file_.is_open()) return file_.copy();
  int number = FileDescriptor::kNone;
  gpu_->use();
  check(driver()->export_memory(&number, handle_, kFileHandle, 0), "cuMemExportToShareableHandle");
  return FileDescriptor(number);
}

Copies::Copies(std::shared_ptr<const Gpu> gpu) : gpu_(std::move(gpu)) {
  gpu_->use();
  check(driver()->create_stream(&stream_, kOwnOrder), "cuStreamCreate");
}

Copies::~Copies() {
  for (const EventHandle event : in_flight_) driver()->destroy_event(event);
  for (const EventHandle event : free_) driver()->destroy_event(event);
  driver()->destroy_stream(stream_);
}

std::uint64_t Copies::start(Address to, Address from, std::size_t bytes) {
  gpu_->use();
  if (free_.empty()) check(driver()->create_event(&free_.emplace_back(), kWithoutTiming), "cuEventCreate");
  check(driver()->copy(to, from, bytes, stream_), "cuMemcpyAsync");
  check(driver()->record(free_.back(), stream_), "cuEventRecord");
  in_flight_.push_back(free_.back());
  free_.pop_back();
  return ended_ + in_flight_.size();
}

void Copies::end_first() {
  free_.push_back(in_flight_.front());
  in_flight_.pop_front();
  ++ended_;
}

bool Copies::has_ended(std::uint64_t number) {
  if (number <= ended_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kBetweenQuestions) return false;
  gpu_->use();
  while (ended_ < number) {
    const Status status = driver()->query(in_flight_.front());
    if (status == kNotReady) {
      asked_ = now;
      return false;
    }
    check(status, "cuEventQuery");
    end_first();
  }
  return true;
}

void Copies::finish() {
  gpu_->use();
  check(driver()->synchronize(stream_), "cuStreamSynchronize");
  while (!in_flight_.empty()) end_first();
}

}  // namespace fabricmark::device::cuda
