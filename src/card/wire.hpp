#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// An emulated board in the place of Vitis' device process, as AMD's runtime XRT starts it (docs/xrt.md).
namespace fabricmark::card {

/// Of a message, a field that is bytes, or a count of them: the runtime's are shorter.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;

/// A message that does not have the form of its protocol.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The fields of a message as Protocol Buffers write them; views into its bytes, which have to outlive it.
class Fields {
 public:
  /// Throws Malformed.
  explicit Fields(std::string_view message);
  /// The last value of a field that is a number; 0 where there is none. Throws Malformed for bytes.
  [[nodiscard]] std::uint64_t number(unsigned field) const;
  /// Of a field that is bytes; empty where there is none. Throws Malformed for a number.
  [[nodiscard]] std::string_view bytes(unsigned field) const;

 private:
  std::map<unsigned, std::uint64_t> numbers_;
  std::map<unsigned, std::string_view> bytes_;
};

/// Writes such a message.
class Reply {
 public:
  Reply& number(unsigned field, std::uint64_t value);
  Reply& bytes(unsigned field, std::string_view value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value);

  std::string text_;
};

/// What stands before a message from the runtime.
struct Header {
  static constexpr std::size_t kBytes = 14;
  std::uint64_t bytes = 0;  ///< of the message
  std::uint32_t call = 0;
};

/// `bytes`: Header::kBytes of them. Throws Malformed.
Header header(std::string_view bytes);
/// What stands before an answer of so many bytes: their number alone, as a call in it would break the
/// framing.
std::string answer_header(std::uint64_t bytes);

}  // namespace fabricmark::card
