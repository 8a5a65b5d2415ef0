#pragma once

#include <unistd.h>

#include <utility>

namespace fabricmark {

/// An open file of the system, closed with its owner.
class FileDescriptor {
 public:
  static constexpr int kNone = -1;

  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() {
    if (is_open()) close(number_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] bool is_open() const { return number_ != kNone; }
  [[nodiscard]] int number() const { return number_; }
  /// Another one of the same file; not open where the system has no more.
  [[nodiscard]] FileDescriptor copy() const { return FileDescriptor(dup(number_)); }
  /// From here on somebody else closes it.
  [[nodiscard]] int release() { return std::exchange(number_, kNone); }

 private:
  int number_ = kNone;
};

}  // namespace fabricmark
