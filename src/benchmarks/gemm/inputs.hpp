#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/random_bits.hpp"

namespace fabricmark::gemm {

/// What a repetition's inputs depend on, beside their place.
struct InputKind {
  bool is_exact = true;
  std::size_t size = 1;
  int value_bits = 24;  ///< significant bits of the arithmetic and of C
  int input_bits = 24;  ///< of A and B
  double c_scale = -1;  ///< what the whole numbers of C are multiplied by: scale_of_c()
  int rank = 0;
  int repetition = 0;  ///< negative in the warm-up
};

/// What makes beta times the elements of C as long as alpha times the sums, with the other sign, so that both
/// have all bits of the type and so has what they add up to. A power of two.
inline double scale_of_c(double alpha, double beta, int value_bits) {
  if (beta == 0) return 0;
  // The type holds C itself: half up to 2^15, float and double far beyond.
  const int largest = value_bits < 24 ? 14 - value_bits : value_bits < 53 ? 100 : 900;
  const double nearest = std::round(std::log2(std::abs(alpha / beta)));
  const double scale =
      std::ldexp(1.0, static_cast<int>(std::clamp(nearest, -100.0, static_cast<double>(largest))));
  return (alpha > 0) == (beta > 0) ? -scale : scale;
}

/// The elements of A, B and C on one rank in one repetition.
///
/// Exact inputs are whole numbers, those of A and B not negative, whose sums of products the arithmetic's
/// type holds, in any order and with any grouping: a right product has no rounding error at all, and any
/// difference is a mistake. Each sum needs all `value_bits` bits, so that arithmetic with fewer shows. Most
/// elements are narrow: so small that `size` of their products take an eighth of the type's range. Each sum
/// has one wide product beside them, from half to three quarters of the range. Which one, depends on the
/// classes of row and column, 0 or 1 at random:
///
/// | row | column | wide product | what shows |
/// |---|---|---|---|
/// | 0 | 1 | an element of A with all bits, times a power of two | A in fewer digits |
/// | 1 | 0 | an element of B with all bits, times a power of two | B in fewer digits |
/// | 0 | 0 and 1 | 1 | two elements with half of the bits each | products without their lower parts |
///
/// Every element of C is an odd number with all bits times `c_scale`, and so large that beta C takes away
/// from half to three quarters of the range: C in fewer digits shows, and the result needs no more bits.
///
/// The wide elements stand at a few places of the depth, one or two of kStep, where others are zero.
///
/// Random inputs are from -1 to 1 with all digits in use.
class Inputs {
 public:
  enum Matrix : std::uint64_t { kA = 1, kB = 2, kC = 3 };
  static constexpr double kRandomVariance = 1.0 / 3;  ///< of a random input

  explicit Inputs(const InputKind& kind) : kind_(kind) {
    const auto count = static_cast<double>(kind.size);
    const double all =
        std::ldexp(1.0, kind.value_bits - 3);  // what products of narrow elements may sum up to
    const double largest = std::min(65536.0, std::ldexp(1.0, kind.input_bits));
    narrow_ = static_cast<std::uint64_t>(std::clamp(std::floor(std::sqrt(all / count)), 1.0, largest));
    // Where even ones are too many, some are zero: the sum is then half of `all`, give or take little.
    constexpr double kMostOnes = 0.75;
    const double ones = std::min(kMostOnes, std::sqrt(all / 2 / count));
    share_of_ones_ = static_cast<std::uint64_t>(std::ldexp(ones, kSliceBits));
    for (const std::uint64_t matrix : {kA, kB, kC}) {
      const std::uint64_t repetition = static_cast<std::uint32_t>(kind.repetition);
      const std::uint64_t rank = static_cast<std::uint32_t>(kind.rank);
      const std::uint64_t own = mixed_bits((rank << 32U | repetition) * kRandomStep);
      seeds_[matrix] = mixed_bits(own + matrix * kRandomStep);
    }
    place_wide_elements();
  }

  /// The largest that a sum of exact products can be.
  [[nodiscard]] double largest_sum() const { return 0.875 * std::ldexp(1.0, kind_.value_bits); }

  [[nodiscard]] double a(std::size_t row, std::size_t column) const { return element(kA, row, column); }
  [[nodiscard]] double b(std::size_t row, std::size_t column) const { return element(kB, row, column); }
  [[nodiscard]] double c(std::size_t row, std::size_t column) const { return element(kC, row, column); }

  /// Writes a row of a matrix: `size` elements.
  template <typename T>
  void fill_row(Matrix matrix, std::size_t row, T* to) const {
    if (!kind_.is_exact) {
      for (std::size_t j = 0; j < kind_.size; ++j) to[j] = static_cast<T>(random(matrix, row, j));
      return;
    }
    if (matrix == kC) {
      for (std::size_t j = 0; j < kind_.size; ++j) to[j] = static_cast<T>(addend(row, j));
      return;
    }
    for (std::size_t start = 0; start < kind_.size; start += kSlices) {
      const std::uint64_t word = bits(matrix, row, start / kSlices);
      const std::size_t end = std::min(start + kSlices, kind_.size);
      for (std::size_t j = start; j < end; ++j) to[j] = static_cast<T>(plain(slice(word, j)));
    }
    if (depths_.empty()) return;
    if (matrix == kB && role_of_[row] == Role::kNarrow) return;
    if (matrix == kB) {
      for (std::size_t j = 0; j < kind_.size; ++j) to[j] = static_cast<T>(element(kB, row, j));
    } else {
      for (const std::size_t depth : depths_) to[depth] = static_cast<T>(element(kA, row, depth));
    }
  }

 private:
  static constexpr std::size_t kStep = 64;  // of the depth: one element of A and one of B in it may be wide
  static constexpr int kSliceBits = 16;
  static constexpr std::size_t kSlices = 64 / kSliceBits;  // of one random word
  /// What stands at a place of the depth: elements of A or B with all bits, or of both, with half of them.
  enum class Role : std::uint8_t { kNarrow, kWideA, kWideB, kHalves0, kHalves1 };

  void place_wide_elements() {
    constexpr std::size_t kRoles = 4;
    if (!kind_.is_exact || kind_.size < 2 * kRoles) return;
    role_of_.assign(kind_.size, Role::kNarrow);
    const std::size_t step = std::min(kStep, kind_.size);
    steps_ = kind_.size / step;
    const auto place = [&](std::uint64_t index, std::size_t block, Role role) {
      const std::size_t within = bits(kC, kind_.size, index) % (step / kRoles);
      const std::size_t depth = block * step + kRoles * within + static_cast<std::size_t>(role) - 1;
      role_of_[depth] = role;
      depths_.push_back(depth);
      return depth;
    };
    for (std::size_t block = 0; block < steps_; ++block) {
      wide_a_.push_back(place(2 * block, block, Role::kWideA));
      wide_b_.push_back(place(2 * block + 1, block, Role::kWideB));
    }
    place(2 * steps_, bits(kC, kind_.size + 1, 0) % steps_, Role::kHalves0);
    place(2 * steps_ + 1, bits(kC, kind_.size + 1, 1) % steps_, Role::kHalves1);
  }

  [[nodiscard]] double element(Matrix matrix, std::size_t row, std::size_t column) const {
    if (!kind_.is_exact) return random(matrix, row, column);
    if (matrix == kC) return addend(row, column);
    const double narrow = plain(slice(bits(matrix, row, column / kSlices), column));
    if (depths_.empty()) return narrow;
    const std::size_t depth = matrix == kA ? column : row;
    const std::size_t line = matrix == kA ? row : column;  // of A its row, of B its column
    const Role role = role_of_[depth];
    if (role == Role::kNarrow) return narrow;
    const std::uint64_t own = line_bits(matrix, line);
    // Rows of A of the class 0 are wide where columns of B of the class 1 are not, and the other way round.
    const bool is_first = own % 2 == 0;
    if (role == Role::kHalves0 || role == Role::kHalves1) {
      return is_first == (role == Role::kHalves0) ? half(matrix, line, depth) : 0;
    }
    if ((role == Role::kWideA) == (matrix == kA)) return is_first ? wide(matrix, line, depth) : narrow;
    const std::vector<std::size_t>& places = role == Role::kWideA ? wide_a_ : wide_b_;
    return !is_first && depth == places[(own >> 1U) % steps_] ? unit() : 0;
  }

  /// Where A and B have fewer bits than the arithmetic, products of theirs are shifted to its upper end.
  [[nodiscard]] int wide_bits() const { return std::min(kind_.input_bits, kind_.value_bits); }
  [[nodiscard]] int wide_shift() const {
    constexpr int kHalfExponents = 16;  // the largest number of the type half is below 2^16
    return std::min(kind_.value_bits - wide_bits(), std::max(kHalfExponents - wide_bits(), 0));
  }
  [[nodiscard]] double unit() const { return std::ldexp(1.0, kind_.value_bits - wide_bits() - wide_shift()); }

  /// An odd number with all bits of the type, from half to three quarters of what it can be; shifted.
  [[nodiscard]] double wide(Matrix matrix, std::size_t line, std::size_t depth) const {
    const std::uint64_t half = std::uint64_t{1} << (wide_bits() - 1);
    const std::uint64_t below = bits(matrix, kind_.size + line, depth) % (half / 2);
    return std::ldexp(static_cast<double>((half + below) | 1U), wide_shift());
  }

  /// An odd number with half of the arithmetic's bits; the product of one in A and one in B is from half to
  /// three quarters of the type's range.
  [[nodiscard]] double half(Matrix matrix, std::size_t line, std::size_t depth) const {
    constexpr double kLeast = 1.0001 * std::numbers::sqrt2;
    constexpr double kMost = 1.7;  // below the root of 3
    const int in_a = std::min((kind_.value_bits + 1) / 2, kind_.input_bits);
    const int in_b = std::min(kind_.value_bits / 2, kind_.input_bits);
    const double low = std::ldexp(kLeast, (matrix == kA ? in_a : in_b) - 1);
    const double high = std::ldexp(kMost, (matrix == kA ? in_a : in_b) - 1);
    const auto first = static_cast<std::uint64_t>(low) | 1U;
    const auto count = static_cast<std::uint64_t>((high - static_cast<double>(first)) / 2) + 1;
    const auto number = static_cast<double>(first + 2 * (bits(matrix, kind_.size + line, depth) % count));
    return matrix == kA ? std::ldexp(number, kind_.value_bits - in_a - in_b) : number;
  }

  [[nodiscard]] double addend(std::size_t row, std::size_t column) const {
    const std::uint64_t half = std::uint64_t{1} << (kind_.value_bits - 1);
    const std::uint64_t below = bits(kC, row, column) % (half / 2);
    return static_cast<double>((half + below) | 1U) * kind_.c_scale;
  }

  [[nodiscard]] double plain(std::uint64_t slice_bits) const {
    if (narrow_ == 1) return slice_bits < share_of_ones_ ? 1 : 0;
    return static_cast<double>(1 + (slice_bits * narrow_ >> kSliceBits));
  }

  [[nodiscard]] double random(Matrix matrix, std::size_t row, std::size_t column) const {
    return std::ldexp(static_cast<double>(bits(matrix, row, column) >> 11U), -52) - 1;
  }

  static std::uint64_t slice(std::uint64_t word, std::size_t index) {
    return word >> (kSliceBits * (index % kSlices)) & ((std::uint64_t{1} << kSliceBits) - 1);
  }
  [[nodiscard]] std::uint64_t line_bits(Matrix matrix, std::size_t line) const {
    return bits(matrix, 2 * kind_.size + line, kind_.size);
  }
  [[nodiscard]] std::uint64_t bits(Matrix matrix, std::size_t line, std::size_t place) const {
    const std::uint64_t index = static_cast<std::uint64_t>(line) * (kind_.size + 1) + place + 1;
    return mixed_bits(seeds_[matrix] + index * kRandomStep);
  }

  InputKind kind_;
  std::array<std::uint64_t, 4> seeds_{};  // [matrix]
  std::uint64_t narrow_ = 1;
  std::uint64_t share_of_ones_ = 0;
  std::size_t steps_ = 0;
  std::vector<std::size_t> wide_a_, wide_b_;  // places of the depth, one in each step
  std::vector<std::size_t> depths_;           // all places with a role
  std::vector<Role> role_of_;                 // [place of the depth]
};

}  // namespace fabricmark::gemm
