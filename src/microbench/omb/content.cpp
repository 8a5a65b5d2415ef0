#include "microbench/omb/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

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

constexpr std::size_t kPieceElements = std::size_t{1} << 16U;  // which stay in caches

/// Adds what the first element of `later` is more than that of `base`.
template <typename Element>
void add_difference(const collectives::View& base, const collectives::View& of_base,
                    const collectives::View& later, Elements& into) {
  Element before{};
  Element after{};
  std::memcpy(&before, of_base.data, sizeof before);
  std::memcpy(&after, later.data, sizeof after);
  const auto more = static_cast<Element>(after - before);
  std::byte* const to = into.bytes().data();
  for (std::size_t i = 0; i < base.count; ++i) {
    Element element{};
    std::memcpy(&element, base.data + i * sizeof element, sizeof element);
    element = static_cast<Element>(element + more);
    std::memcpy(to + i * sizeof element, &element, sizeof element);
  }
}

}  // namespace

void compare(const collectives::View& expected, const collectives::View& actual, const std::string& what,
             Found& found, std::size_t first) {
  found.checked += expected.count;
  if (std::memcmp(expected.data, actual.data, expected.bytes()) == 0) return;
  const std::size_t width = collectives::bytes_of(expected.type);
  for (std::size_t i = 0; i < expected.count; ++i) {
    if (std::memcmp(expected.data + i * width, actual.data + i * width, width) == 0) continue;
    if (found.wrong++ > 0) continue;
    found.place = fmt::format("element {} of {}", first + i, what);
    found.expected = number_at(expected, i);
    found.actual = number_at(actual, i);
  }
}

collectives::Inputs inputs_of(std::uint64_t seed, int summands) {
  return {.numbers = collectives::Inputs::Numbers::kDistinct, .seed = seed, .summands = summands};
}

Operand::Operand(std::size_t count, collectives::Type type, Make make)
    : type_(type), kept_(count, type), piece_(0, type), actual_(0, type), make_(std::move(make)) {
  if (count > 0) make_(0, kept_.view(), 0);
}

void Operand::make(std::uint64_t seed, std::size_t first) {
  const std::size_t count = piece_.view().count;
  if (first + count > kept_.view().count) return make_(seed, piece_.view(), first);
  const std::size_t width = collectives::bytes_of(type_);
  const collectives::View base{kept_.bytes().data() + first * width, count, type_};
  Elements later(1, type_);
  make_(seed, later.view(), 0);
  switch (type_) {
    case collectives::Type::kInt8:
      return add_difference<std::int8_t>(base, kept_.view(1), later.view(), piece_);
    case collectives::Type::kInt32:
      return add_difference<std::int32_t>(base, kept_.view(1), later.view(), piece_);
    default:
      return add_difference<float>(base, kept_.view(1), later.view(), piece_);
  }
}

void Operand::pieces(std::uint64_t seed, std::size_t first, std::size_t count, const Use& use) {
  for (std::size_t start = 0; start < count; start += kPieceElements) {
    piece_.resize(std::min(count - start, kPieceElements));
    make(seed, first + start);
    use(piece_, start);
  }
}

void Operand::compare(std::uint64_t seed, std::size_t first, std::size_t count, const Read& read,
                      const std::string& what, Found& found) {
  pieces(seed, first, count, [&](Elements& piece, std::size_t start) {
    actual_.resize(piece.view().count);
    read(start, actual_.bytes());
    omb::compare(piece.view(), actual_.view(), what, found, start);
  });
}

}  // namespace fabricmark::microbench::omb
