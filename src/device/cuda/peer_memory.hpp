#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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

 private:
  Gpu(DeviceNumber number, ContextHandle context) : number_(number), context_(context) {}

  DeviceNumber number_;
  ContextHandle context_;
};

/// Memory of a GPU that GPUs of the same host reach, of other processes too.
class Block {
 public:
  /// At least so many bytes. Throws Error (environment) where there is no room.
  static std::shared_ptr<const Block> make(std::shared_ptr<const Gpu> gpu, std::size_t bytes);
  /// What another process has exported, as `gpu` reaches it; `bytes` are its own. Throws Error (environment)
  /// where it does not.
  static std::shared_ptr<const Block> open(std::shared_ptr<const Gpu> gpu, const FileDescriptor& file,
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
  Block(std::shared_ptr<const Gpu> gpu, MemoryHandle handle, std::size_t bytes);

  std::shared_ptr<const Gpu> gpu_;
  MemoryHandle handle_;
  std::size_t bytes_;
  Address address_ = 0;
  std::uint64_t number_;
};

/// Bytes of a block, from `offset` on.
struct PeerMemory {
  std::shared_ptr<const Block> block{};  ///< null: other GPUs do not reach them
  std::size_t offset = 0;
};

/// Copies of a GPU, one after the other.
class Copies {
 public:
  /// Of one that was started; used again by `start`.
  class Mark {
   public:
    Mark() = default;
    ~Mark() {
      if (event_ != nullptr) driver()->destroy_event(event_);
    }
    Mark(Mark&& other) noexcept : event_(other.event_) { other.event_ = nullptr; }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    Mark& operator=(Mark&&) = delete;

   private:
    friend class Copies;
    EventHandle event_ = nullptr;
  };

  explicit Copies(std::shared_ptr<const Gpu> gpu);
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  void start(Address to, Address from, std::size_t bytes, Mark& mark);
  [[nodiscard]] bool has_ended(const Mark& mark) const;
  /// Waits for all that were started.
  void finish() const;

 private:
  std::shared_ptr<const Gpu> gpu_;
  StreamHandle stream_ = nullptr;
};

}  // namespace fabricmark::device::cuda
