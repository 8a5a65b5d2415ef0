#include "microbench/omb/content.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace fabricmark::microbench::omb {

namespace {

template <typename Element>
double element_at(const collectives::View& elements, std::size_t place) {
  Element element{};
  std::memcpy(&element, elements.data + place * sizeof element, sizeof element);
  return static_cast<double>(element);
}

double number_at(const collectives::View& elements, std::size_t place) {
  if (elements.type == collectives::Type::kInt8) return element_at<std::int8_t>(elements, place);
  if (elements.type == collectives::Type::kInt32) return element_at<std::int32_t>(elements, place);
  return element_at<float>(elements, place);
}

}  // namespace

void compare(const collectives::View& expected, const collectives::View& actual, const std::string& what,
             Found& found) {
  found.checked += expected.count;
  if (std::memcmp(expected.data, actual.data, expected.bytes()) == 0) return;
  const std::size_t width = collectives::bytes_of(expected.type);
  for (std::size_t i = 0; i < expected.count; ++i) {
    if (std::memcmp(expected.data + i * width, actual.data + i * width, width) == 0) continue;
    if (found.wrong++ > 0) continue;
    found.place = fmt::format("element {} of {}", i, what);
    found.expected = number_at(expected, i);
    found.actual = number_at(actual, i);
  }
}

collectives::Inputs inputs_of(std::uint64_t seed, int summands) {
  return {.numbers = collectives::Inputs::Numbers::kDistinct, .seed = seed, .summands = summands};
}

}  // namespace fabricmark::microbench::omb
