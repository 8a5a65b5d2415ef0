#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codec/form.hpp"
#include "codec/frame.hpp"

namespace fabricmark::codec {

using Bytes = std::vector<std::byte>;

inline std::string said(const Form& form) {
  return "element " + std::to_string(static_cast<int>(form.element)) + ", predictor " +
         std::to_string(static_cast<int>(form.predictor)) + ", mode " +
         std::to_string(static_cast<int>(form.mode)) + ", channels " + std::to_string(form.channels) +
         ", lanes " + std::to_string(form.lanes) + ", flits " + std::to_string(form.flit_bits) +
         ", columns " + std::to_string(form.columns);
}

/// Words of all kinds that a number may be, some of each kind one after the other.
class Patterns {
 public:
  explicit Patterns(std::uint32_t seed) : random_(seed) {}

  Bytes words(const Form& form, std::size_t count) {
    Bytes bytes;
    bytes.reserve(count * form.word_bytes());
    while (count > 0) {
      constexpr std::size_t kLongest = 700;
      const std::size_t here = std::min<std::size_t>(count, 1 + random_() % kLongest);
      const auto kind = static_cast<unsigned>(random_() % kKinds);
      const std::uint64_t base = random_();
      for (std::size_t i = 0; i < here; ++i) add(bytes, form, word(form, kind, base, i));
      count -= here;
    }
    return bytes;
  }

 private:
  static constexpr unsigned kKinds = 9;

  std::uint64_t word(const Form& form, unsigned kind, std::uint64_t base, std::uint64_t i) {
    const unsigned bits = 8 * static_cast<unsigned>(form.word_bytes());
    const std::uint64_t top = std::uint64_t{1} << (bits - 1);
    const unsigned fraction = bits == 32 ? 23 : 52;
    const std::uint64_t infinity = (bits == 32 ? std::uint64_t{0xFF} : std::uint64_t{0x7FF}) << fraction;
    const std::uint64_t any = random_();
    const std::uint64_t sign = (any & 1U) != 0 ? top : 0;
    switch (kind) {
      case 0:
        return any;
      case 1:  // NaN, with what it carries
        return infinity | sign | (any >> 7U & ((std::uint64_t{1} << fraction) - 1)) | 1U;
      case 2:
        return top;  // -0
      case 3:
        return infinity | sign;
      case 4:  // denormal
        return sign | (any >> 5U & ((std::uint64_t{1} << fraction) - 1));
      case 5:
        return base;
      case 6:
        return base + i * (base >> 40U);
      case 7:  // of all lengths
        return base + (any >> any % 64);
      default:
        return any & 1U;
    }
  }
  static void add(Bytes& bytes, const Form& form, std::uint64_t word) {
    const std::span<const std::byte> from = std::as_bytes(std::span(&word, 1)).first(form.word_bytes());
    bytes.insert(bytes.end(), from.begin(), from.end());
  }

  std::mt19937_64 random_;
};

/// All forms of so many channels, with rows of so many columns where there are rows.
inline std::vector<Form> forms(std::uint32_t channels, std::uint64_t columns) {
  std::vector<Form> all;
  for (const Element element : {Element::kFloat32, Element::kFloat64, Element::kInt32, Element::kInt64})
    for (const Predictor predictor :
         {Predictor::kLine, Predictor::kLorenzo, Predictor::kPlane, Predictor::kSmooth})
      for (const Mode mode : {Mode::kFile, Mode::kStream})
        for (const std::uint32_t lanes : {1U, 2U, 4U})
          for (const bool is_swapped : {false, true})
            all.push_back({.element = element,
                           .predictor = predictor,
                           .mode = mode,
                           .channels = channels,
                           .lanes = lanes,
                           .flit_bits = mode == Mode::kFile ? 32U : 64U << lanes % 4,
                           .columns = columns,
                           .is_swapped = is_swapped});
  return all;
}

inline Bytes encoded(const Form& form, const Bytes& cells) {
  Bytes coded(most_bytes(form, cells.size() / form.cell_bytes()));
  coded.resize(encode(form, cells, coded));
  return coded;
}

}  // namespace fabricmark::codec
