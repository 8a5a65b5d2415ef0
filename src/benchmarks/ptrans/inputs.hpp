#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/random_bits.hpp"

namespace fabricmark::ptrans {

/// What the inputs of one repetition are for: its parts one by one, or C as a whole. They differ, so that
/// nothing that the parts have left is of use for the whole.
enum class Step { kParts, kWhole };

/// The elements of A and B: functions of repetition, step and place in the whole matrix, so that every rank
/// can check its part without a word from another. From 0.5 to 1.5 with all digits in use, so that no two
/// blocks are alike, nor a block and its transposed, and that zeros and half an element show.
template <typename T>
class Inputs {
 public:
  explicit Inputs(std::size_t size, int repetition = 0, Step step = Step::kWhole)
      : size_(size),
        seed_(mixed_bits(kSeed + 2 * static_cast<std::uint64_t>(repetition) +
                         (step == Step::kWhole ? 1 : 0))) {}

  [[nodiscard]] T a(std::size_t row, std::size_t column) const { return of_a(bits(column, row)); }
  [[nodiscard]] T b(std::size_t row, std::size_t column) const { return number(bits(row, column)); }

  /// b(row, column) and a(column, row), which are added.
  struct Terms {
    T b;
    T a;
  };
  [[nodiscard]] Terms terms(std::size_t row, std::size_t column) const {
    const std::uint64_t both = bits(row, column);
    return {number(both), of_a(both)};
  }

 private:
  static constexpr std::uint64_t kSeed = 0x8EBC6AF09C88C6E3U;
  static constexpr std::uint64_t kOther = 0x589965CC75374CC3U;

  /// One round of SplitMix64 on the place.
  [[nodiscard]] std::uint64_t bits(std::size_t row, std::size_t column) const {
    return mixed_bits(seed_ + (row * size_ + column + 1) * kRandomStep);
  }
  /// Other bits from the same, of which an element of B shows only the first.
  static T of_a(std::uint64_t bits) { return number(bits * kOther); }
  static T number(std::uint64_t bits) {
    return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits >> 11U)) * 0x1p-53 + 0.5);
  }

  std::size_t size_;
  std::uint64_t seed_;
};

}  // namespace fabricmark::ptrans
