#pragma once

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace fabricmark {

/// The number that the whole text is, whatever the locale; none where it is anything else.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const char* const end = std::to_address(text.end());
  const auto [stop, failure] = std::from_chars(std::to_address(text.begin()), end, number);
  return failure == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace fabricmark
