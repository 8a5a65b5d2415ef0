#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "benchmarks/gemm/inputs.hpp"
#include "device/element.hpp"
#include "runtime/benchmark.hpp"

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

/// What rounding a right result may have had.
enum class Rounding {
  kNone,       ///< a b is exact, and so are its scaling and the addition of beta c
  kOfScaling,  ///< a b is exact
  kOfSums,     ///< a and b are random, from -1 to 1
};

/// What is checked: result = alpha a b + beta c, of size x size elements.
template <typename In, typename Out>
struct Product {
  std::size_t size = 0;
  double alpha = 1;  ///< as the type holds it
  double beta = 0;
  Rounding rounding = Rounding::kOfSums;
  View<In> a;
  View<In> b;
  View<Out> c;  ///< looked at only where beta is not 0
  View<Out> result;
};

/// Whether alpha and beta round nothing: powers of two (or beta 0) with which beta C is as long as alpha
/// times a sum (scale_of_c()).
inline Rounding rounding_of_exact(double alpha, double beta, int value_bits) {
  const auto is_power = [](double value) {
    int exponent = 0;
    return value != 0 && std::abs(std::frexp(value, &exponent)) == 0.5;
  };
  if (!is_power(alpha) || (beta != 0 && !is_power(beta))) return Rounding::kOfScaling;
  const bool is_as_long = beta == 0 || beta * scale_of_c(alpha, beta, value_bits) == -alpha;
  return is_as_long ? Rounding::kNone : Rounding::kOfScaling;
}

/// What an element's error is measured by, in eps: of exact products what is scaled and added; of random
/// ones the standard deviation of a sum of products, as large as a typical one.
inline double error_scale(std::size_t size, Rounding rounding, double alpha, double scaled, double addend) {
  const double sum = std::abs(alpha) * Inputs::kRandomVariance * std::sqrt(static_cast<double>(size));
  return (rounding == Rounding::kOfSums ? sum : std::abs(scaled)) + std::abs(addend);
}

/// The largest error that a right result may have, in eps times error_scale().
///
/// Of an exact product only its scaling and the addition of beta C are rounded: three roundings of half an
/// epsilon, where these are not exact too. Otherwise the errors of `size` additions are a sum of random signs
/// whose terms grow with the root of their number. In units of 0.2 sqrt(size), x is exceeded with probability
/// exp(-pi x / 2), as the area under a random walk along another one is; the bound leaves 1e-13.
inline double threshold(std::size_t size, Rounding rounding) {
  if (rounding == Rounding::kNone) return 0;
  if (rounding == Rounding::kOfScaling) return 2;
  return 2 + 4 * std::sqrt(static_cast<double>(size));
}

/// Smallest normal number of the type: below, rounding is absolute, or flushes to zero.
template <typename T>
constexpr double kSmallest = std::numeric_limits<T>::min();
template <>
inline constexpr double kSmallest<device::Half> = 0x1p-14;

/// Compares results with what they should be; keeps the worst.
template <typename In, typename Out>
class Comparison {
 public:
  explicit Comparison(const Product<In, Out>& product) : product_(product) {}

  /// `sum` is the element of a b.
  void add(std::size_t row, std::size_t column, long double sum) {
    const long double scaled = product_.alpha * sum;
    const double addend = product_.beta == 0 ? 0 : product_.beta * product_.c(row, column);
    const auto expected = static_cast<double>(scaled + addend);
    const double actual = product_.result(row, column);
    double difference = std::abs(actual - expected);
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    const double scale =
        error_scale(product_.size, product_.rounding, product_.alpha, static_cast<double>(scaled), addend);
    const double error = difference / (device::kEpsilon<Out> * scale + kSmallest<Out>);
    largest_difference_ = std::max(largest_difference_, difference);
    squares_ += expected * expected;
    ++checked_;
    if (error <= error_) return;
    error_ = error;
    worst_index_ = row * product_.size + column;
    worst_ = {"c[" + std::to_string(row) + "," + std::to_string(column) + "]", expected, actual};
  }

  /// Takes over what another comparison of the same product found; of elements that are equally wrong the
  /// first stays.
  void merge(const Comparison& other) {
    largest_difference_ = std::max(largest_difference_, other.largest_difference_);
    squares_ += other.squares_;
    checked_ += other.checked_;
    if (other.error_ < error_ || (other.error_ == error_ && other.worst_index_ >= worst_index_)) return;
    error_ = other.error_;
    worst_index_ = other.worst_index_;
    worst_ = other.worst_;
  }

  [[nodiscard]] runtime::Verdict verdict(const std::string& name) const {
    runtime::Verdict verdict;
    verdict.name = name;
    verdict.measure = product_.rounding == Rounding::kOfSums
                          ? "largest error in eps (|alpha| sqrt(n) / 3 + |beta C|)"
                          : "largest error in eps (|alpha A B| + |beta C|)";
    verdict.error = error_;
    verdict.threshold = threshold(product_.size, product_.rounding);
    verdict.checked = checked_;
    if (error_ > 0) verdict.worst = worst_;
    return verdict;
  }

  /// The source's residual (Meyer 2024, section 3.1.5). With the largest difference over a norm of all
  /// elements, n^2 is in the denominator: from n = 4096 on, float results times 1.5 pass. Where only some
  /// elements were compared, the norm of all is estimated from theirs.
  [[nodiscard]] runtime::Verdict residual() const {
    const auto size = static_cast<double>(product_.size);
    const bool is_sample = checked_ < product_.size * product_.size;
    runtime::Verdict verdict;
    verdict.name = "residual";
    verdict.measure = is_sample ? "largest |C - C'| of sampled rows / (eps n ||C'||, estimated from them)"
                                : "largest |C - C'| / (eps n ||C'||)";
    const double all_squares = squares_ * (size * size / static_cast<double>(checked_));
    const double norm = device::kEpsilon<Out> * size * std::sqrt(all_squares);
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
  std::size_t worst_index_ = 0;
  runtime::WorstPlace worst_;
};

}  // namespace fabricmark::gemm
