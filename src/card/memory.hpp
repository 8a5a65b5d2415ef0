#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "base/file_descriptor.hpp"
#include "card/hls/card_memory.hpp"

namespace fabricmark::card {

/// Who sees what lies in a buffer of the card that the runtime would map into the host.
enum class Sharing {
  kFiles,    ///< both, as on a card whose memory is mapped: a file for each buffer
  kOneFile,  ///< both: one file for the card, in which a buffer lies at its address (from XRT 2.14 on)
  kPrivate,  ///< the card alone, so that a copy that the host forgot shows
};

/// The memory of the card: what the runtime allocated in it, by its addresses. Kernels ask where these are
/// while the runtime allocates and releases others.
class Memory final : public fabricmark_card::Memory {
 public:
  /// `folder`: of the files.
  Memory(Sharing sharing, std::filesystem::path folder) : sharing_(sharing), folder_(std::move(folder)) {}
  /// The file that the host maps; empty where it maps none. Buffers begin with a pattern, as memory of a
  /// board begins with anything. Throws Error (environment) where there is no room, (bad use) where it lies
  /// over another one.
  std::string allocate(std::uint64_t address, std::uint64_t bytes, bool is_mapped);
  void release(std::uint64_t address) {
    const std::scoped_lock lock(mutex_);
    buffers_.erase(address);
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    buffers_.clear();
  }
  /// Bytes of one buffer. Throws Error (bad use) where no buffer holds them all.
  [[nodiscard]] std::byte* at(std::uint64_t address, std::uint64_t bytes) const;
  void* place(unsigned long long address, unsigned long long bytes) const override {
    return at(address, bytes);
  }
  void share_as(Sharing sharing) { sharing_ = sharing; }
  void put_files_in(std::filesystem::path folder) { folder_ = std::move(folder); }
  [[nodiscard]] Sharing sharing() const { return sharing_; }

 private:
  /// Mapped pages, between some that nobody may touch.
  class Pages {
   public:
    Pages(const FileDescriptor& file, std::uint64_t offset, std::uint64_t bytes);
    ~Pages();
    Pages(Pages&& other) noexcept;
    Pages& operator=(Pages&&) = delete;
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    [[nodiscard]] std::byte* begin() const { return begin_; }

   private:
    std::byte* begin_;
    std::size_t bytes_;
  };
  struct Buffer {
    Pages pages;
    std::uint64_t bytes;
  };

  Sharing sharing_;
  std::filesystem::path folder_;
  mutable std::mutex mutex_;                 // of buffers_
  std::map<std::uint64_t, Buffer> buffers_;  // by address
  int files_ = 0;
};

}  // namespace fabricmark::card
