#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricmark::shallow_water {

/// The numbers of a text that has these separators between them, as "3x4:10" has for "x:"; none for any other
/// text.
inline std::optional<std::vector<double>> numbers_between(const std::string& text,
                                                          std::string_view separators) {
  std::vector<double> numbers;
  const char* place = text.c_str();
  for (std::size_t i = 0; i <= separators.size(); ++i) {
    char* end = nullptr;
    numbers.push_back(std::strtod(place, &end));
    const char expected = i < separators.size() ? separators[i] : '\0';
    if (end == place || *end != expected) return std::nullopt;
    place = end + 1;
  }
  return numbers;
}

}  // namespace fabricmark::shallow_water
