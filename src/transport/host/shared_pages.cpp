#include "transport/host/shared_pages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/memory.hpp"

namespace fabricmark::transport {

namespace {

constexpr const char* kName = "fabricmark-staging";
constexpr std::uint64_t kMark = 0xFAB51C0DE5746167;

/// At the beginning of the first page.
struct Head {
  std::uint64_t mark;
  SharedAddress address;
};

/// A descriptor that is closed unless somebody takes it.
class File {
 public:
  explicit File(int file) : file_(file) {}
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return file_; }
  int take() { return std::exchange(file_, -1); }

 private:
  int file_;
};

/// That of another process is looked at before it is opened: whatever has its number there now may be a
/// device, or a pipe that would be waited for.
int open_in(const SharedAddress& address) {
  const std::string path = address.process == getpid()
                               ? fmt::format("/proc/self/fd/{}", address.file)
                               : fmt::format("/proc/{}/fd/{}", address.process, address.file);
  std::array<char, 256> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) return -1;
  const std::string_view found(target.data(), static_cast<std::size_t>(length));
  if (found.find(kName) == std::string_view::npos) return -1;
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

std::byte* mapped(int file, std::size_t bytes) {
  void* const all = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return all == MAP_FAILED ? nullptr : static_cast<std::byte*>(all);
}

}  // namespace

SharedPages::SharedPages(int file, const SharedAddress& address) : address_(address), file_(file) {}

SharedPages::~SharedPages() {
  if (all_ != nullptr) munmap(all_, address_.bytes);
  if (file_ >= 0) close(file_);
}

std::span<std::byte> SharedPages::span() const {
  return {all_ + device::kPageBytes, address_.bytes - device::kPageBytes};
}

std::shared_ptr<SharedPages> SharedPages::make(std::size_t bytes) {
  static std::atomic<std::uint64_t> count = 0;
  const std::size_t all = device::kPageBytes + device::whole_pages(bytes);
  File file(memfd_create(kName, MFD_CLOEXEC));
  int failed = file.get() < 0 ? errno : 0;
  // The system ends a process that takes more than there is.
  if (failed == 0 && all > available_memory_bytes()) failed = ENOMEM;
  // With its room taken now, a lack of it is an error here and no SIGBUS later.
  if (failed == 0) failed = posix_fallocate(file.get(), 0, static_cast<off_t>(all));
  std::byte* const found = failed == 0 ? mapped(file.get(), all) : nullptr;
  if (failed == 0 && found == nullptr) failed = errno;
  if (failed != 0) {
    throw environment_failure(
        fmt::format("the system gives no {} bytes that ranks share ({})", all, std::strerror(failed)),
        "use --staging private, or smaller messages");
  }
  const SharedAddress address{getpid(), file.get(), ++count, all};
  std::shared_ptr<SharedPages> pages(new SharedPages(file.take(), address));
  pages->all_ = found;
  const Head head{kMark, address};
  std::memcpy(found, &head, sizeof(head));
  return pages;
}

std::shared_ptr<SharedPages> SharedPages::open(const SharedAddress& address) {
  const File file(open_in(address));
  if (file.get() < 0) return nullptr;
  const off_t length = lseek(file.get(), 0, SEEK_END);
  if (std::cmp_not_equal(length, address.bytes)) return nullptr;
  std::shared_ptr<SharedPages> pages(new SharedPages(-1, address));
  pages->all_ = mapped(file.get(), address.bytes);
  if (pages->all_ == nullptr) return nullptr;
  Head head{};
  std::memcpy(&head, pages->all_, sizeof(head));
  // The descriptor's number may stand for other pages by now.
  if (head.mark != kMark || head.address != address) return nullptr;
  return pages;
}

}  // namespace fabricmark::transport
