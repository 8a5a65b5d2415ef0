#include "card/wire.hpp"

#include <algorithm>

namespace fabricmark::card {

namespace {

enum class Form : unsigned { kVarint = 0, kEight = 1, kBytes = 2, kFour = 5 };
constexpr unsigned kFormBits = 3;
constexpr unsigned kSevenBits = 7;
constexpr std::uint64_t kMoreFollows = 0x80;
constexpr std::uint64_t kMostField = (std::uint64_t{1} << 29) - 1;

std::uint64_t key(unsigned field, Form form) {
  return std::uint64_t{field} << kFormBits | static_cast<unsigned>(form);
}

std::uint64_t take_varint(std::string_view& left) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += kSevenBits) {
    if (left.empty()) throw Malformed("a message that ends within a number");
    const auto byte = static_cast<unsigned char>(left.front());
    left.remove_prefix(1);
    value |= (byte & (kMoreFollows - 1)) << shift;
    if ((byte & kMoreFollows) == 0) return value;
  }
  throw Malformed("a number of more than 64 bits");
}

std::string_view take(std::string_view& left, std::uint64_t bytes) {
  if (bytes > left.size()) throw Malformed("a message that ends within a field");
  const std::string_view taken = left.substr(0, bytes);
  left.remove_prefix(bytes);
  return taken;
}

template <typename T>
T whole(std::string_view bytes) {
  T value = 0;
  std::copy_n(bytes.begin(), sizeof(value), reinterpret_cast<char*>(&value));
  return value;
}

}  // namespace

Fields::Fields(std::string_view message) {
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    const std::uint64_t number = key >> kFormBits;
    if (number == 0 || number > kMostField) throw Malformed("a field without a number");
    const auto field = static_cast<unsigned>(number);
    switch (static_cast<Form>(key & ((1U << kFormBits) - 1))) {
      case Form::kVarint:
        numbers_[field] = take_varint(message);
        break;
      case Form::kEight:
        numbers_[field] = whole<std::uint64_t>(take(message, sizeof(std::uint64_t)));
        break;
      case Form::kFour:
        numbers_[field] = whole<std::uint32_t>(take(message, sizeof(std::uint32_t)));
        break;
      case Form::kBytes:
        bytes_[field] = take(message, take_varint(message));
        break;
      default:
        throw Malformed("a field of an unknown form");
    }
  }
}

std::uint64_t Fields::number(unsigned field) const {
  const auto found = numbers_.find(field);
  if (found != numbers_.end()) return found->second;
  if (bytes_.contains(field)) throw Malformed("bytes where a number belongs");
  return 0;
}

std::string_view Fields::bytes(unsigned field) const {
  const auto found = bytes_.find(field);
  if (found != bytes_.end()) return found->second;
  if (numbers_.contains(field)) throw Malformed("a number where bytes belong");
  return {};
}

void Reply::varint(std::uint64_t value) {
  for (; value >= kMoreFollows; value >>= kSevenBits)
    text_.push_back(static_cast<char>((value & (kMoreFollows - 1)) | kMoreFollows));
  text_.push_back(static_cast<char>(value));
}

Reply& Reply::number(unsigned field, std::uint64_t value) {
  varint(key(field, Form::kVarint));
  varint(value);
  return *this;
}

Reply& Reply::bytes(unsigned field, std::string_view value) {
  varint(key(field, Form::kBytes));
  varint(value.size());
  text_.append(value);
  return *this;
}

Header header(std::string_view bytes) {
  const Fields fields(bytes);
  return {fields.number(1), static_cast<std::uint32_t>(fields.number(2))};
}

std::string answer_header(std::uint64_t bytes) {
  std::string text(1, static_cast<char>(key(1, Form::kEight)));
  text.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  return text;
}

}  // namespace fabricmark::card
