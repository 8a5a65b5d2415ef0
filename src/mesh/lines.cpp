#include "mesh/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>

namespace fabricmark::mesh {

namespace {

std::string shown(std::string_view field) {
  constexpr std::size_t kLongest = 40;
  std::string text(field.substr(0, kLongest));
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return text;
}

}  // namespace

void Lines::next(const std::string& wanted) {
  if (text_.empty())
    throw bad_use(fmt::format("{}: the file is cut: it ends after line {}, where {} should follow", name_,
                              number_, wanted),
                  "take the whole file");
  const std::size_t end = std::min(text_.find('\n'), text_.size());
  line_ = text_.substr(0, end);
  text_.remove_prefix(std::min(end + 1, text_.size()));
  ++number_;
  wanted_ = wanted;
}

std::string_view Lines::peek() {
  line_.remove_prefix(std::min(line_.find_first_not_of(" \t\r,"), line_.size()));
  return line_.substr(0, std::min(line_.find_first_of(" \t\r,"), line_.size()));
}

std::string_view Lines::word() {
  const std::string_view field = peek();
  line_.remove_prefix(field.size());
  return field;
}

template <typename T>
T Lines::parsed(const char* complaint) {
  const std::string_view field = peek();
  if (field.empty()) throw wrong("the line ends where " + wanted_ + " should stand", "take the whole file");
  std::array<char, 64> copy{};  // Fortran writes +1.5D+3
  std::string_view plain = field;
  if (field.size() < copy.size()) {
    std::ranges::transform(field, copy.begin(), [](char c) { return c == 'd' || c == 'D' ? 'e' : c; });
    plain = {copy.data(), field.size()};
  }
  if (plain.starts_with('+')) plain.remove_prefix(1);
  T value{};
  const char* const end = std::to_address(plain.end());
  const auto [stopped, error] = std::from_chars(std::to_address(plain.begin()), end, value);
  if (error != std::errc{} || stopped != end)
    throw wrong(fmt::format("'{}' is {}; here stands {}", shown(field), complaint, wanted_));
  line_.remove_prefix(field.size());
  return value;
}

std::int64_t Lines::whole() { return parsed<std::int64_t>("no whole number"); }

double Lines::real() { return parsed<double>("no number"); }

Error Lines::wrong(const std::string& cause, const std::string& remedy) const {
  return bad_use(fmt::format("{}, line {}: {}", name_, number_, cause), remedy);
}

std::string text_of(const std::filesystem::path& path, const std::string& remedy) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))  // a device or a pipe may have no end
    throw bad_use("cannot read " + path.string(), remedy);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw bad_use("cannot read " + path.string(), remedy);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fabricmark::mesh
