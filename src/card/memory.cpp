#include "card/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::card {

namespace {

constexpr int kNothings = 0xA5;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kForbidden = 16 * kPage;  // on each side of a buffer: nobody may touch it

std::uint64_t in_pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::string hexadecimal(std::uint64_t number) {
  constexpr std::size_t kMostDigits = 2 * sizeof(number);
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
    number /= 16;
  } while (number != 0 && digits.size() < kMostDigits);
  return "0x" + digits;
}

Error no_room(std::uint64_t bytes) {
  return environment_failure("the emulated card has no room for a buffer of " + std::to_string(bytes) +
                                 " bytes in the host's memory",
                             "choose a smaller size");
}

/// Of the card's memory or of a buffer, with room for `bytes`.
FileDescriptor opened(const std::filesystem::path& path, std::uint64_t bytes) {
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct stat state {};
  const bool is_open = file.is_open() && fstat(file.number(), &state) == 0;
  const bool is_long = is_open && std::cmp_greater_equal(state.st_size, bytes);
  if (!is_open || (!is_long && ftruncate(file.number(), static_cast<off_t>(bytes)) != 0))
    throw environment_failure(
        "the emulated card cannot make " + path.string() + " (" + std::strerror(errno) + ")",
        "give it room there, or name another folder (SDACCEL_EM_RUN_DIR)");
  return file;
}

}  // namespace

Memory::Pages::Pages(const FileDescriptor& file, std::uint64_t offset, std::uint64_t bytes) : bytes_(bytes) {
  void* const all = mmap(nullptr, bytes + 2 * kForbidden, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, FileDescriptor::kNone, 0);
  if (all == MAP_FAILED) throw no_room(bytes);
  begin_ = static_cast<std::byte*>(all) + kForbidden;
  const int flags = file.is_open() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (mmap(begin_, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file.number(),
           static_cast<off_t>(offset)) == MAP_FAILED) {
    munmap(all, bytes + 2 * kForbidden);
    throw no_room(bytes);
  }
}

Memory::Pages::~Pages() {
  if (begin_ != nullptr) munmap(begin_ - kForbidden, bytes_ + 2 * kForbidden);
}

Memory::Pages::Pages(Pages&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_) {}

std::string Memory::allocate(std::uint64_t address, std::uint64_t bytes, bool is_mapped) {
  const std::uint64_t length = in_pages(std::max<std::uint64_t>(bytes, 1));
  if (length < bytes || length > std::uint64_t{std::numeric_limits<off_t>::max()} - address)
    throw no_room(bytes);
  if (length > available_memory_bytes()) throw no_room(bytes);  // all of it is written below
  const std::scoped_lock lock(mutex_);
  const auto after = buffers_.lower_bound(address);
  const bool touches_next = after != buffers_.end() && after->first < address + bytes;
  const bool touches_last =
      after != buffers_.begin() && std::prev(after)->first + std::prev(after)->second.bytes > address;
  if (touches_next || touches_last) {
    throw bad_use("the runtime put a buffer of " + std::to_string(bytes) + " bytes at " +
                      hexadecimal(address) + " of the emulated card over another one",
                  "report it with the command line");
  }
  FileDescriptor file;
  std::filesystem::path path;
  std::uint64_t offset = 0;
  if (is_mapped && sharing_ != Sharing::kPrivate) {
    const bool is_one = sharing_ == Sharing::kOneFile;
    offset = is_one ? address : 0;
    path = std::filesystem::absolute(folder_) /
           (is_one ? "fabricmark_memory" : "fabricmark_buffer_" + std::to_string(++files_));
    file = opened(path, offset + length);
  }
  Pages pages(file, offset, length);
  std::memset(pages.begin(), kNothings, bytes);
  buffers_.emplace(address, Buffer{std::move(pages), std::max<std::uint64_t>(bytes, 1)});
  return path.string();
}

std::byte* Memory::at(std::uint64_t address, std::uint64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  auto found = buffers_.upper_bound(address);
  if (found != buffers_.begin()) {
    const auto& [begin, buffer] = *--found;
    const std::uint64_t offset = address - begin;
    if (offset < buffer.bytes && bytes <= buffer.bytes - offset) return buffer.pages.begin() + offset;
  }
  throw bad_use(
      "no buffer of the emulated card holds " + std::to_string(bytes) + " bytes at " + hexadecimal(address),
      "look for a buffer that was released too early, or for a wrong argument");
}

}  // namespace fabricmark::card
