#pragma once

#include <cstddef>
#include <optional>

namespace fabricmark {

/// Pages beside a memory, which nobody may touch as long as this lives: a crash there (crash.hpp) names the
/// memory. No effect where the system refuses, or on what is less than a page.
class ForbiddenPages {
 public:
  /// The whole pages of `bytes` from `start`. `is_behind`: they lie behind the memory, which ends at `edge`;
  /// else before it, and it begins there.
  ForbiddenPages(std::byte* start, std::size_t bytes, bool is_behind, const std::byte* edge);
  ~ForbiddenPages();
  ForbiddenPages(const ForbiddenPages&) = delete;
  ForbiddenPages& operator=(const ForbiddenPages&) = delete;
  /// What the memory is; lives until the process ends (`lasting_name`).
  void name_it(const char* memory);

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
  void* entry_ = nullptr;  ///< in a list that a signal handler can read
};

/// What lies at an address that nobody may touch.
struct Forbidden {
  const char* memory = nullptr;  ///< beside it; null: it has no name
  bool is_behind = false;
  std::size_t away = 0;  ///< bytes
};
/// For signal handlers. None where the address is none of such pages.
std::optional<Forbidden> forbidden_at(const void* address);

}  // namespace fabricmark
