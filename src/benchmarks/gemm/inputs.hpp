#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/random_bits.hpp"

namespace fabricmark::gemm {

/// The elements of A, B and C on one rank; none is negative.
///
/// Exact inputs are whole numbers so small that the result's type, of `value_bits` significant bits, holds
/// every sum of their products, in any order and with any grouping, and half of it: then a right product has
/// no rounding error at all, and any difference is a mistake. Most have few bits, so that many can be added;
/// one in each row of A and each column of B is as wide as the inputs' type (`input_bits`) and the sum allow,
/// so that arithmetic with fewer digits than the type's shows too. They stand in even columns of A and odd
/// rows of B and never meet.
///
/// Random inputs are from 0.5 to 1.5 with all digits in use.
class Inputs {
 public:
  Inputs(bool exact, std::size_t size, int value_bits, int input_bits, int rank)
      : is_exact_(exact), size_(size), rank_(static_cast<std::uint64_t>(rank)) {
    const double all = std::ldexp(1.0, value_bits - 3);  // what the products of narrow elements may sum up to
    const double most = std::ldexp(1.0, value_bits / 6 + 1);
    const auto count = static_cast<double>(size);
    narrow_ = static_cast<std::uint64_t>(std::clamp(std::floor(std::sqrt(all / count)), 1.0, most));
    // Where even ones are too many, some are zero: the sum is then half of `all`, give or take little.
    if (narrow_ == 1) share_of_ones_ = std::min(1.0, std::sqrt(all / 2 / count));
    const double wide = std::min(all / 2 / static_cast<double>(narrow_), std::ldexp(1.0, input_bits));
    wide_ = static_cast<std::uint64_t>(wide) - 1;
    largest_c_ = static_cast<std::uint64_t>(std::min(1024.0, all / 4));
    for (std::size_t line = 0; line < size; ++line) {
      const std::size_t half = std::max<std::size_t>(size / 2, 1);
      wide_column_.push_back(2 * (mix(kA, line, size) % half));
      wide_row_.push_back(2 * (mix(kB, line, size) % half) + 1);
    }
  }

  [[nodiscard]] double a(std::size_t row, std::size_t column) const {
    return element(mix(kA, row, column), column == wide_column_[row]);
  }
  [[nodiscard]] double b(std::size_t row, std::size_t column) const {
    return element(mix(kB, column, row), row == wide_row_[column]);
  }
  [[nodiscard]] double c(std::size_t row, std::size_t column) const {
    const std::uint64_t bits = mix(kC, row, column);
    return is_exact_ ? 1 + static_cast<double>(bits % largest_c_) : fraction(bits) + 0.5;
  }

 private:
  enum Matrix : std::uint64_t { kA = 1, kB = 2, kC = 3 };

  [[nodiscard]] double element(std::uint64_t bits, bool is_wide) const {
    if (!is_exact_) return fraction(bits) + 0.5;
    if (is_wide) return static_cast<double>((wide_ - bits % (wide_ / 4 + 1)) | 1U);
    if (narrow_ == 1) return fraction(bits) < share_of_ones_ ? 1 : 0;
    return 1 + static_cast<double>(bits % narrow_);
  }

  static double fraction(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11U), -53); }

  /// Random bits of one place: two rounds of splitmix64.
  [[nodiscard]] std::uint64_t mix(Matrix matrix, std::uint64_t line, std::uint64_t place) const {
    std::uint64_t bits = (matrix << 60U) ^ (rank_ << 44U) ^ (line * (size_ + 1) + place);
    for (int round = 0; round < 2; ++round) bits = harness::mixed_bits(bits + harness::kRandomStep);
    return bits;
  }

  bool is_exact_;
  std::size_t size_;
  std::uint64_t rank_;
  std::uint64_t narrow_ = 1;
  double share_of_ones_ = 1;
  std::uint64_t wide_ = 1;
  std::uint64_t largest_c_ = 1;
  std::vector<std::size_t> wide_column_;  // of each row of A
  std::vector<std::size_t> wide_row_;     // of each column of B
};

}  // namespace fabricmark::gemm
