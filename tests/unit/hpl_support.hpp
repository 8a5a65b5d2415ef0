#pragma once

#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "benchmarks/hpl/inputs.hpp"
#include "benchmarks/hpl/vectors.hpp"
#include "support.hpp"

namespace fabricmark::hpl {

/// The number with all but its first `digits` binary digits cut off.
template <typename T>
T cut(T value, int digits) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
  const auto mask = static_cast<Bits>(~Bits{0} << (std::numeric_limits<T>::digits - digits));
  return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(value) & mask));
}

/// How many digits of the factors a product reads, of those in these columns of L; the rest is in full.
struct Digits {
  int count = std::numeric_limits<double>::digits;
  std::size_t first = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
};

/// The whole matrix of the benchmark and its factors by the textbook's loops in the arithmetic of T, which
/// round as often as any right program would.
template <typename T>
class Factored {
 public:
  explicit Factored(std::size_t size, const Digits& digits = {}, int repetition = 0)
      : size_(size), matrix_(size * size) {
    const Inputs inputs(size, repetition);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) matrix_[i * size + j] = static_cast<T>(inputs(i, j));
    }
    factors_ = matrix_;
    for (std::size_t k = 0; k < size; ++k) {
      const T* const upper = factors_.data() + k * size;
      for (std::size_t i = k + 1; i < size; ++i) {
        T* const row = factors_.data() + i * size;
        row[k] /= upper[k];
        if (k < digits.first || k >= digits.end || digits.count >= std::numeric_limits<T>::digits) {
          const T factor = row[k];
          for (std::size_t j = k + 1; j < size; ++j) row[j] -= factor * upper[j];
        } else {
          const T factor = cut(row[k], digits.count);
          for (std::size_t j = k + 1; j < size; ++j) row[j] -= factor * cut(upper[j], digits.count);
        }
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& factor(std::size_t row, std::size_t column) { return factors_[row * size_ + column]; }
  /// A rank's part with the padding.
  [[nodiscard]] std::vector<T> factors(const Layout& layout) const { return part(layout, factors_); }
  [[nodiscard]] std::vector<T> matrix(const Layout& layout) const { return part(layout, matrix_); }

 private:
  [[nodiscard]] std::vector<T> part(const Layout& layout, const std::vector<T>& whole) const {
    std::vector<T> values;
    for (std::size_t r = 0; r < layout.local_rows(); ++r) {
      for (std::size_t c = 0; c < layout.local_columns(); ++c) {
        const std::size_t row = layout.global_row(r);
        const std::size_t column = layout.global_column(c);
        const bool is_real = row < size_ && column < size_;
        values.push_back(is_real ? whole[row * size_ + column] : static_cast<T>(row == column ? 1 : 0));
      }
    }
    return values;
  }

  std::size_t size_;
  std::vector<T> matrix_;
  std::vector<T> factors_;
};

/// How the ranks of a test share the matrix.
struct Shape {
  std::size_t rows = 1;
  std::size_t columns = 1;
  std::size_t block = 1;
};

inline std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.rows << " x " << shape.columns << ", blocks of " << shape.block;
}

/// Calls `body` on every rank of the grid, each a thread.
inline void on_ranks(const Shape& shape, std::size_t size, const std::function<void(const Vectors&)>& body) {
  runtime::run_in_process(static_cast<int>(shape.rows * shape.columns), [&](runtime::Communicator& ranks) {
    constexpr double kTimeout = 20;
    const Layout layout{
        .size = size, .block = shape.block, .grid = {shape.rows, shape.columns}, .rank = ranks.rank()};
    const Vectors vectors(ranks, layout, kTimeout);
    body(vectors);
    return 0;
  });
}

/// Grids of every kind, with blocks that divide nothing among them.
inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{{1, 1, 8}, {1, 1, 7},  {1, 2, 8}, {2, 1, 5}, {2, 2, 8},
                                      {2, 3, 7}, {3, 2, 11}, {3, 3, 4}, {4, 4, 3}, {1, 5, 16}};
  return all;
}

}  // namespace fabricmark::hpl
