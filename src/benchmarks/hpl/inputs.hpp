#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/random_bits.hpp"

namespace fabricmark::hpl {

/// The matrix as a function of the global index, so that every rank makes and checks its part by itself:
/// off-diagonal elements from -1/2 to 1/2 with all digits in use, and a diagonal from n/2 to n, which is
/// strictly dominant, so that no pivoting is needed. The device's matrix is this one, rounded to its type.
class Inputs {
 public:
  explicit Inputs(std::size_t size) : size_(size) {}

  /// One row of the matrix.
  class Row {
   public:
    /// Not for the column of the diagonal.
    [[nodiscard]] double off_diagonal(std::size_t column) const {
      return fraction(harness::mixed_bits(bits(column))) - 0.5;
    }

   private:
    friend class Inputs;
    explicit Row(std::uint64_t seed) : seed_(seed) {}
    [[nodiscard]] std::uint64_t bits(std::size_t column) const {
      return seed_ + (column + 1) * harness::kRandomStep;
    }
    std::uint64_t seed_;
  };

  [[nodiscard]] Row row(std::size_t row) const {
    return Row(harness::mixed_bits((row + 1) * harness::kRandomStep));
  }
  [[nodiscard]] double diagonal(std::size_t row) const {
    return static_cast<double>(size_) *
           (0.5 + 0.5 * fraction(harness::mixed_bits(Inputs::row(row).bits(row))));
  }
  /// Any element.
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const {
    return row == column ? diagonal(row) : Inputs::row(row).off_diagonal(column);
  }

 private:
  /// From 0 to 1. Signed, as processors convert signed numbers faster.
  static double fraction(std::uint64_t bits) {
    return static_cast<double>(static_cast<std::int64_t>(bits >> 11U)) * 0x1p-53;
  }

  std::size_t size_;
};

}  // namespace fabricmark::hpl
