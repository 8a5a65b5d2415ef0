#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace fabricmark::record {

/// Memory for so many values of a plain type, zero, of which the system gives what is touched. Without
/// memory there is room for none.
template <typename T>
class Room {
 public:
  explicit Room(std::size_t capacity) {
    void* found = ::mmap(nullptr, capacity * sizeof(T), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return;
    values_ = static_cast<T*>(found);
    capacity_ = capacity;
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if (values_ != nullptr) ::munmap(values_, capacity_ * sizeof(T));
  }
  T& operator[](std::size_t place) { return values_[place]; }
  const T& operator[](std::size_t place) const { return values_[place]; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] T* data() { return values_; }

 private:
  T* values_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace fabricmark::record
