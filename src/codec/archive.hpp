#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "codec/form.hpp"

namespace fabricmark::codec {

/// Bytes of a file that follow each other: an array, or what is stored as it is.
struct Part {
  bool is_stored = true;
  Form form;                      ///< of an array
  std::uint64_t bytes = 0;        ///< in the file
  std::uint64_t coded_bytes = 0;  ///< in the archive
};

/// Of an archive, before what is coded.
std::size_t head_bytes(std::size_t parts, std::size_t text);

/// An archive of one file, all of which is its parts one behind the other (docs/codec.md). `text` says
/// what the parts are, for a reader. An array that would get longer is stored, which `parts` says then.
/// Throws Damage for parts that are no such file.
std::vector<std::byte> archived(std::span<const std::byte> file, std::vector<Part>& parts,
                                std::string_view text);

/// The head of an archive, and the file that comes out of it.
class Archive {
 public:
  /// `bytes` stay where they are. Throws Damage.
  explicit Archive(std::span<const std::byte> bytes);

  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// `file` has room for `file_bytes`. Throws Damage, also where what came out is not what went in.
  void unpack(std::span<std::byte> file) const;

 private:
  class Reader;

  std::uint64_t file_bytes_ = 0;
  std::string_view digest_;
  std::string_view text_;
  std::vector<Part> parts_;
  std::span<const std::byte> coded_;
};

/// The predictor that makes a sample of an array shorter.
Predictor better_predictor(const Form& form, std::span<const std::byte> cells);

}  // namespace fabricmark::codec
