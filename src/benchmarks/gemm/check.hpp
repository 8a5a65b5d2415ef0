#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "benchmarks/gemm/product.hpp"
#include "harness/benchmark.hpp"
#include "harness/element.hpp"

namespace fabricmark::gemm {

/// A matrix in memory, row by row; `stride` elements from one row to the next.
template <typename T>
struct View {
  const T* data = nullptr;
  std::size_t stride = 0;
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const {
    return static_cast<double>(data[row * stride + column]);
  }
};

/// What is checked: result = alpha a b + beta c, of size x size elements that are not negative.
template <typename In, typename Out>
struct Product {
  std::size_t size = 0;
  double alpha = 1;  ///< as the type holds it
  double beta = 0;
  bool is_exact = false;  ///< a b has no rounding errors
  View<In> a;
  View<In> b;
  View<Out> c;  ///< looked at only where beta is not 0
  View<Out> result;
};

/// The largest error that a right result may have, in units of eps (|alpha| |A| |B| + |beta| |C|).
///
/// Of an exact product only its scaling and the addition of beta C are rounded: three roundings of half an
/// epsilon. Otherwise errors of `size` additions are random: 8 deviations of Higham and Mary's bound sqrt(n)
/// eps / 2 (2019). In half precision they are not, because small terms vanish beside a large sum; there the
/// bound is n eps.
template <typename Out>
double threshold(std::size_t size, bool is_exact) {
  const auto n = static_cast<double>(size);
  if (is_exact) return 2;
  return 2 + (std::is_same_v<Out, harness::Half> ? n : 4 * std::sqrt(n));
}

/// Smallest normal number of the type: below, rounding is absolute, or flushes to zero.
template <typename T>
constexpr double kSmallest = std::numeric_limits<T>::min();
template <>
inline constexpr double kSmallest<harness::Half> = 0x1p-14;

/// Compares results with what they should be; keeps the worst.
template <typename In, typename Out>
class Comparison {
 public:
  explicit Comparison(const Product<In, Out>& product) : product_(product) {}

  /// `sum` is the element of a b.
  void add(std::size_t row, std::size_t column, long double sum) {
    const long double scaled = product_.alpha * sum;
    const long double addend = product_.beta == 0 ? 0 : product_.beta * product_.c(row, column);
    const auto expected = static_cast<double>(scaled + addend);
    const double actual = product_.result(row, column);
    double difference = std::abs(actual - expected);
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    const auto scale = static_cast<double>(std::abs(scaled) + std::abs(addend));
    const double error = difference / (harness::kEpsilon<Out> * scale + kSmallest<Out>);
    largest_difference_ = std::max(largest_difference_, difference);
    squares_ += expected * expected;
    ++checked_;
    if (error <= error_) return;
    error_ = error;
    worst_ = {"c[" + std::to_string(row) + "," + std::to_string(column) + "]", expected, actual};
  }

  [[nodiscard]] harness::Verdict verdict(const std::string& name) const {
    harness::Verdict verdict;
    verdict.name = name;
    verdict.measure = "largest error in eps (|alpha| |A| |B| + |beta| |C|)";
    verdict.error = error_;
    verdict.threshold = threshold<Out>(product_.size, product_.is_exact);
    verdict.checked = checked_;
    if (error_ > 0) verdict.worst = worst_;
    return verdict;
  }

  /// The source's residual (dissertation 000, section 3.1.5). With the largest difference over a norm of all
  /// elements, n^2 is in the denominator: from n = 4096 on, float results times 1.5 pass.
  [[nodiscard]] harness::Verdict residual() const {
    harness::Verdict verdict;
    verdict.name = "residual";
    verdict.measure = "largest |C - C'| / (eps n ||C'||)";
    const double norm = harness::kEpsilon<Out> * static_cast<double>(product_.size) * std::sqrt(squares_);
    verdict.error = largest_difference_ == 0 ? 0 : largest_difference_ / norm;
    verdict.threshold = 1;
    verdict.checked = checked_;
    return verdict;
  }

 private:
  const Product<In, Out>& product_;
  double error_ = 0;
  double largest_difference_ = 0;
  double squares_ = 0;
  std::size_t checked_ = 0;
  harness::WorstPlace worst_;
};

/// All elements against a product by OpenBLAS in double precision, made tile by tile to need little memory.
template <typename In, typename Out>
Comparison<In, Out> compare_all(const Product<In, Out>& product) {
  Comparison<In, Out> comparison(product);
  const std::size_t size = product.size;
  const std::size_t tile = std::min(kCheckedTile, size);
  std::vector<double> left(tile * size);
  std::vector<double> right(size * tile);
  std::vector<double> sums(tile * tile);
  for (std::size_t row = 0; row < size; row += tile) {
    const std::size_t rows = std::min(tile, size - row);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < size; ++k) left[i * size + k] = product.a(row + i, k);
    }
    for (std::size_t column = 0; column < size; column += tile) {
      const std::size_t columns = std::min(tile, size - column);
      for (std::size_t k = 0; k < size; ++k) {
        for (std::size_t j = 0; j < columns; ++j) right[k * columns + j] = product.b(k, column + j);
      }
      multiply(left, right, sums, {rows, columns, size});
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) comparison.add(row + i, column + j, sums[i * columns + j]);
      }
    }
  }
  return comparison;
}

/// A few rows, the first and the last among them, against sums in extended precision, without a library.
template <typename In, typename Out>
Comparison<In, Out> compare_rows(const Product<In, Out>& product) {
  Comparison<In, Out> comparison(product);
  const std::size_t size = product.size;
  const std::size_t steps = std::min<std::size_t>(kSpotRows - 1, std::max<std::size_t>(size - 1, 1));
  std::vector<long double> sums(size);
  for (std::size_t step = 0; step <= steps && step < size; ++step) {
    const std::size_t row = step * (size - 1) / steps;
    std::ranges::fill(sums, 0);
    for (std::size_t k = 0; k < size; ++k) {
      const long double factor = product.a(row, k);
      for (std::size_t j = 0; j < size; ++j) sums[j] += factor * product.b(k, j);
    }
    for (std::size_t j = 0; j < size; ++j) comparison.add(row, j, sums[j]);
  }
  return comparison;
}

template <typename In, typename Out>
std::vector<harness::Verdict> check(const Product<In, Out>& product) {
  const Comparison<In, Out> all = compare_all(product);
  return {all.verdict("elements"), compare_rows(product).verdict("spot rows"), all.residual()};
}

}  // namespace fabricmark::gemm
