#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/random_bits.hpp"

namespace fabricmark::hpl {

/// The matrix of one repetition as a function of the global index, so that every rank makes and checks its
/// part by itself. The device's matrix is this one, rounded to its type.
///
/// Beside the diagonal: from -1/2 to 1/2 with all digits in use, but one element of every stretch() columns
/// of a row, at a random place, is stretch() times as large. The products of two such elements are as large
/// as other elements of the matrix, so that the precision of the products shows in these; without them all
/// products would be small beside the elements that they are subtracted from, the more so the larger the
/// matrix. On the diagonal from n to 2 n, and more than the rest of a row can sum to: no pivoting is needed.
class Inputs {
 public:
  explicit Inputs(std::size_t size, int repetition = 0)
      : size_(size),
        seed_(mixed_bits(kSeed + static_cast<std::uint64_t>(repetition))),
        shift_(shift_of(size)) {}

  /// One row of the matrix.
  class Row {
   public:
    /// Not for the column of the diagonal.
    [[nodiscard]] double off_diagonal(std::size_t column) const {
      const double small = ordinary(column);
      return column == large_column(column >> shift_) ? small * stretch() : small;
    }
    /// `count` elements from `first` on, as off_diagonal.
    void off_diagonals(std::size_t first, std::size_t count, double* elements) const {
      for (std::size_t i = 0; i < count; ++i) elements[i] = ordinary(first + i);
      if (count == 0) return;
      for (std::size_t part = first >> shift_; part <= (first + count - 1) >> shift_; ++part) {
        const std::size_t column = large_column(part);
        if (column >= first && column < first + count) elements[column - first] *= stretch();
      }
    }

   private:
    friend class Inputs;
    Row(std::uint64_t seed, unsigned shift) : seed_(seed), shift_(shift) {}
    [[nodiscard]] std::uint64_t bits(std::size_t column) const {
      return mixed_bits(seed_ + (column + 1) * kRandomStep);
    }
    [[nodiscard]] double ordinary(std::size_t column) const { return fraction(bits(column)) - 0.5; }
    [[nodiscard]] double stretch() const { return static_cast<double>(std::uint64_t{1} << shift_); }
    /// Where the large element of a part of the row stands; may be beyond the last column.
    [[nodiscard]] std::size_t large_column(std::size_t part) const {
      const std::uint64_t place = mixed_bits(~seed_ + (part + 1) * kRandomStep);
      return (part << shift_) + (place & ((std::uint64_t{1} << shift_) - 1));
    }
    std::uint64_t seed_;
    unsigned shift_;
  };

  [[nodiscard]] Row row(std::size_t row) const {
    return {mixed_bits(seed_ + (row + 1) * kRandomStep), shift_};
  }
  [[nodiscard]] double diagonal(std::size_t row) const {
    return largest_row_sum() * (1 + fraction(Inputs::row(row).bits(row)));
  }
  /// Any element.
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const {
    return row == column ? diagonal(row) : Inputs::row(row).off_diagonal(column);
  }
  /// Columns of which one element in a row is large, and how much larger it is: a power of two.
  [[nodiscard]] std::size_t stretch() const { return std::size_t{1} << shift_; }
  /// No ordinary element is larger.
  static constexpr double kOrdinary = 0.5;

 private:
  static constexpr std::uint64_t kSeed = 0xD1B54A32D192ED03U;

  /// About 2.8 sqrt(n): then two large elements meet often enough to show, and their product over the
  /// diagonal is as large as ordinary elements whatever n is.
  static unsigned shift_of(std::size_t size) {
    const double wanted = 1.5 + 0.5 * std::log2(static_cast<double>(size));
    const auto most = static_cast<double>(std::bit_width(size) - 1);
    return static_cast<unsigned>(std::min(std::round(wanted), most));
  }
  /// Of the absolute values beside the diagonal: ordinary ones, and one large of each part.
  [[nodiscard]] double largest_row_sum() const {
    const std::size_t parts = (size_ + stretch() - 1) / stretch();
    return kOrdinary * static_cast<double>(size_ + parts * stretch());
  }
  /// From 0 to 1. Signed, as processors convert signed numbers faster.
  static double fraction(std::uint64_t bits) {
    return static_cast<double>(static_cast<std::int64_t>(bits >> 11U)) * 0x1p-53;
  }

  std::size_t size_;
  std::uint64_t seed_;
  unsigned shift_;
};

}  // namespace fabricmark::hpl
