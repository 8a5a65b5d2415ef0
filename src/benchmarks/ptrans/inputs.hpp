#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/random_bits.hpp"

namespace fabricmark::ptrans {

/// The elements of A and B: functions of their place in the whole matrix, so that every rank can check its
/// part without a word from another. From 0.5 to 1.5 with all digits in use, so that no two blocks are alike,
/// nor a block and its transposed, and that zeros and half an element show.
template <typename T>
class Inputs {
 public:
  explicit Inputs(std::size_t size) : size_(size) {}

  [[nodiscard]] T a(std::size_t row, std::size_t column) const { return element(row, column, kA); }
  [[nodiscard]] T b(std::size_t row, std::size_t column) const { return element(row, column, kB); }
  /// Element of B + A^T. A sum of two such doubles has 54 digits, which long double holds.
  [[nodiscard]] long double c(std::size_t row, std::size_t column) const {
    return static_cast<long double>(b(row, column)) + static_cast<long double>(a(column, row));
  }

 private:
  static constexpr std::uint64_t kA = 0x8EBC6AF09C88C6E3U;
  static constexpr std::uint64_t kB = 0x589965CC75374CC3U;

  /// One round of SplitMix64 on the place, from another start for each matrix.
  [[nodiscard]] T element(std::size_t row, std::size_t column, std::uint64_t matrix) const {
    const std::uint64_t bits =
        harness::mixed_bits(matrix + (row * size_ + column + 1) * harness::kRandomStep);
    return static_cast<T>(static_cast<double>(bits >> 11U) * 0x1p-53 + 0.5);
  }

  std::size_t size_;
};

}  // namespace fabricmark::ptrans
