#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/file_descriptor.hpp"
#include "device/cuda/driver.hpp"

namespace fabricmark::device::cuda {

/// A GPU as the driver knows it, with its primary context, which stays until the process ends.
class Gpu {
 public:
  /// Null where no GPU has that identifier, or there is no driver.
  static std::shared_ptr<const Gpu> with(const Uuid& uuid);

  /// The calling thread's calls are for this GPU from here on.
  void use() const { check(driver()->set_context(context_), "cuCtxSetCurrent"); }
  [[nodiscard]] DeviceNumber number() const { return number_; }
  [[nodiscard]] const Uuid& uuid() const { return uuid_; }

 private:
  Gpu(DeviceNumber number, const Uuid& uuid, ContextHandle context)
      : number_(number), uuid_(uuid), context_(context) {}

  DeviceNumber number_;
  Uuid uuid_;
  ContextHandle context_;
};

/// Memory of a GPU that GPUs of the same host reach, of other processes too.
class Block {
 public:
  /// At least so many bytes. Throws Error (environment) where there is no room.
  static std::shared_ptr<const Block> make(std::shared_ptr<const Gpu> gpu, std::size_t bytes);
  /// What another process has exported, as `gpu` reaches it; `bytes` are its own. Throws Error (environment)
  /// where it does not.
  static std::shared_ptr<const Block> open(std::shared_ptr<const Gpu> gpu, FileDescriptor file,
                                           std::size_t bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// A descriptor that another process, or another library, opens it by.
  [[nodiscard]] FileDescriptor file() const;
  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return gpu_; }
  [[nodiscard]] Address address() const { return address_; }
  /// In whole granules of the driver's.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// That no other block of this process has or had.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// How many blocks of this process are gone.
  static std::uint64_t count_gone();

 private:
  Block(std::shared_ptr<const Gpu> gpu, MemoryHandle handle, std::size_t bytes, FileDescriptor file);

  std::shared_ptr<const Gpu> gpu_;
  MemoryHandle handle_;
  std::size_t bytes_;
  FileDescriptor file_;  ///< of what was opened: the driver exports nothing that it has imported
  Address address_ = 0;
  std::uint64_t number_;
};

/// Bytes of a block, from `offset` on.
struct PeerMemory {
  std::shared_ptr<const Block> block{};  ///< null: other GPUs do not reach them
  std::size_t offset = 0;
};

/// Copies of a GPU, which end in the order in which they were started.
class Copies {
 public:
  explicit Copies(std::shared_ptr<const Gpu> gpu);
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  /// The number of the copy: they are counted from 1.
  std::uint64_t start(Address to, Address from, std::size_t bytes);
  /// Asks the driver for the first that is in progress alone, and no more often than it can have changed: who
  /// waits for many copies asks for each of them.
  [[nodiscard]] bool has_ended(std::uint64_t number);
  /// Waits for all that were started.
  void finish();

 private:
  void end_first();

  std::shared_ptr<const Gpu> gpu_;
  StreamHandle stream_ = nullptr;
  std::deque<EventHandle> in_flight_;  ///< of the copies behind `ended_`
  std::vector<EventHandle> free_;
  std::uint64_t ended_ = 0;
  std::chrono::steady_clock::time_point asked_;  ///< when the first was still in progress
};

}  // namespace fabricmark::device::cuda
