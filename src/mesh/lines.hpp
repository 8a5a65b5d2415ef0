#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::mesh {

/// The lines of a text file and the numbers on them, as Fortran writes them.
class Lines {
 public:
  Lines(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  [[nodiscard]] std::int32_t number() const { return number_; }  ///< of the line, from 1
  [[nodiscard]] std::string_view line() const { return line_; }  ///< what is not read of it
  [[nodiscard]] bool at_end() const { return text_.empty(); }
  /// What is left could not hold so many lines.
  [[nodiscard]] bool is_too_short_for(std::int64_t lines) const {
    return std::cmp_greater(lines, text_.size());
  }

  /// Goes on to the next line; `wanted` is what should stand there. Throws Error (bad use) at the end.
  void next(const std::string& wanted);
  /// The next number on the line. Throws Error (bad use) that names the line.
  std::int64_t whole();
  double real();
  /// The next word on the line; empty at its end.
  std::string_view word();

  [[nodiscard]] Error wrong(const std::string& cause, const std::string& remedy = "correct it") const;

 private:
  std::string_view peek();
  template <typename T>
  T parsed(const char* complaint);

  std::string_view text_;
  std::string name_;
  std::string_view line_;
  std::string wanted_;
  std::int32_t number_ = 0;
};

/// All of a regular file. Throws Error (bad use), with this remedy, where it cannot be read.
std::string text_of(const std::filesystem::path& path, const std::string& remedy);

}  // namespace fabricmark::mesh
