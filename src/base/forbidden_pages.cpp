#include "base/forbidden_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace fabricmark {

namespace {

/// Plain numbers, which a signal handler may look at while other threads change them. `start` is written
/// last and cleared first; zero: the entry is free.
struct Entry {
  std::atomic<bool> is_taken{false};
  std::atomic<std::uintptr_t> start{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<std::uintptr_t> edge{0};
  std::atomic<bool> is_behind{false};
  std::atomic<const char*> memory{nullptr};
};
constexpr std::size_t kEntries = 512;

/// Constant from the start and never destroyed, so that a handler may look at any time.
std::array<Entry, kEntries>& entries() noexcept {
  constinit static std::array<Entry, kEntries> all;
  return all;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

ForbiddenPages::ForbiddenPages(std::byte* start, std::size_t bytes, bool is_behind, const std::byte* edge) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t before = (page - number(start) % page) % page;
  if (bytes < before + page) return;
  std::byte* const first = start + before;
  const std::size_t whole = (bytes - before) / page * page;
  for (Entry& entry : entries()) {
    if (entry.is_taken.exchange(true)) continue;
    if (mprotect(first, whole, PROT_NONE) != 0) {
      entry.is_taken = false;
      return;
    }
    entry.memory = nullptr;
    entry.is_behind = is_behind;
    entry.edge = number(edge);
    entry.end = number(first) + whole;
    entry.start = number(first);
    start_ = first;
    bytes_ = whole;
    entry_ = &entry;
    return;
  }
}

ForbiddenPages::~ForbiddenPages() {
  if (entry_ == nullptr) return;
  Entry& entry = *static_cast<Entry*>(entry_);
  entry.start = 0;
  mprotect(start_, bytes_, PROT_READ | PROT_WRITE);
  entry.is_taken = false;
}

void ForbiddenPages::name_it(const char* memory) {
  if (entry_ != nullptr) static_cast<Entry*>(entry_)->memory = memory;
}

std::optional<Forbidden> forbidden_at(const void* address) {
  const std::uintptr_t place = number(address);
  for (const Entry& entry : entries()) {
    const std::uintptr_t start = entry.start;
    if (start == 0 || place < start || place >= entry.end) continue;
    const std::uintptr_t edge = entry.edge;
    return Forbidden{entry.memory, entry.is_behind, place < edge ? edge - place : place - edge};
  }
  return std::nullopt;
}

}  // namespace fabricmark
