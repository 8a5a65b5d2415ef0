#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace fabricmark::transport {

/// Where another rank of the node finds shared pages.
struct SharedAddress {
  std::int64_t process = 0;  ///< of the rank that has made them
  std::int64_t file = 0;     ///< its descriptor
  std::uint64_t number = 0;  ///< that no other pages of the process have
  std::uint64_t bytes = 0;
  bool operator==(const SharedAddress&) const = default;
};

/// Memory of the host that ranks of one node share, threads as well as processes: a file without a name in
/// any folder, so that nothing of it is left behind a process that was killed. Each rank maps it by itself,
/// so that each one's runtime can pin a mapping of its own.
class SharedPages {
 public:
  /// At least so many bytes in whole pages, all zero, which the system has given already. Throws Error
  /// (environment) where it has not as many.
  static std::shared_ptr<SharedPages> make(std::size_t bytes);
  /// Those of another rank, or of this one once more; null where they are not there, or are not to be seen
  /// from this process, as those of another container. They are there as long as their maker has them.
  static std::shared_ptr<SharedPages> open(const SharedAddress& address);
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  [[nodiscard]] const SharedAddress& address() const { return address_; }
  /// Without the first page, which is kept for what tells them from others.
  [[nodiscard]] std::span<std::byte> span() const;

 private:
  SharedPages(int file, const SharedAddress& address);

  SharedAddress address_;
  int file_ = -1;  // of the maker; others need none
  std::byte* all_ = nullptr;
};

}  // namespace fabricmark::transport
