#pragma once

#include <cstdint>
#include <optional>

#include "base/parallel.hpp"
#include "benchmarks/gemm/check.hpp"

namespace fabricmark::gemm {

/// Checks a whole product in time n^2 (Freivalds 1977): with random factors u of the rows, every column of
/// u^T result has to be that of alpha (u^T A) B + beta u^T C. Each column is checked by itself, so that a
/// single wrong element cannot hide among the others.
///
/// Where nothing is rounded (Rounding::kNone) everything is a whole number times |alpha|, and computed modulo
/// 2^64 with odd factors: one wrong element in a column is found for sure, several with probability 1 - 2^-50
/// or better. Otherwise sums are in double precision and differ by what rounding explains.
template <typename In, typename Out>
class ColumnCheck {
 public:
  /// `seed`: of the factors; another one for each repetition. `threads`: of the host, that share in it.
  ColumnCheck(const Product<In, Out>& product, std::uint64_t seed, int threads = 1)
      : product_(product), seed_(seed), threads_(threads) {}

  [[nodiscard]] runtime::Verdict verdict() const {
    const std::vector<char> is_wrong =
        product_.rounding == Rounding::kNone ? wrong_columns_exactly() : wrong_columns();
    runtime::Verdict verdict;
    verdict.name = "repetitions";
    verdict.measure = "columns whose random sum is wrong";
    verdict.error = static_cast<double>(std::ranges::count(is_wrong, 1));
    verdict.threshold = 0;
    verdict.checked = product_.size * product_.size;
    const auto first = std::ranges::find(is_wrong, 1);
    if (first != is_wrong.end()) verdict.worst = worst_of(static_cast<std::size_t>(first - is_wrong.begin()));
    return verdict;
  }

 private:
  using Whole = std::uint64_t;  // modulo 2^64

  [[nodiscard]] std::uint64_t bits(std::size_t row) const {
    return mixed_bits(seed_ + (row + 1) * kRandomStep);
  }

  static Whole whole(double value) { return static_cast<Whole>(static_cast<std::int64_t>(value)); }
  /// Absent for what is no whole number, or too large to be a right result.
  static std::optional<Whole> whole_or_nothing(double value) {
    constexpr double kLimit = 0x1p62;
    if (!(std::abs(value) < kLimit)) return std::nullopt;
    const auto number = static_cast<std::int64_t>(value);
    if (static_cast<double>(number) != value) return std::nullopt;
    return static_cast<Whole>(number);
  }

  /// Calls `body(begin, end)` with parts of the columns of a matrix.
  template <typename Body>
  void for_columns(Body&& body) const {
    parallel_for(product_.size, threads_, kWorthAThread / product_.size + 1, body);
  }

  [[nodiscard]] std::vector<char> wrong_columns_exactly() const {
    const std::size_t size = product_.size;
    const double unit = std::abs(product_.alpha);
    const Whole alpha = whole(product_.alpha / unit);
    const double beta = product_.beta / unit;  // a power of two
    std::vector<char> is_wrong(size);
    std::vector<Whole> found(size), expected(size), of_a(size);
    for_columns([&](std::size_t begin, std::size_t end) {
      for (std::size_t i = 0; i < size; ++i) {
        const Whole factor = bits(i) | 1U;
        for (std::size_t j = begin; j < end; ++j) {
          const std::optional<Whole> value = whole_or_nothing(product_.result(i, j) / unit);
          found[j] += factor * value.value_or(0);
          is_wrong[j] |= static_cast<char>(!value);
        }
        for (std::size_t k = begin; k < end; ++k) of_a[k] += factor * whole(product_.a(i, k));
        if (product_.beta == 0) continue;
        for (std::size_t j = begin; j < end; ++j) expected[j] += factor * whole(beta * product_.c(i, j));
      }
    });
    for_columns([&](std::size_t begin, std::size_t end) {
      for (std::size_t k = 0; k < size; ++k) {
        const Whole factor = alpha * of_a[k];
        for (std::size_t j = begin; j < end; ++j) expected[j] += factor * whole(product_.b(k, j));
      }
    });
    for (std::size_t j = 0; j < size; ++j) is_wrong[j] |= static_cast<char>(found[j] != expected[j]);
    return is_wrong;
  }

  [[nodiscard]] std::vector<char> wrong_columns() const {
    const std::size_t size = product_.size;
    std::vector<double> found(size), expected(size), of_a(size), scale(size);
    const bool is_random = product_.rounding == Rounding::kOfSums;
    for_columns([&](std::size_t begin, std::size_t end) {
      for (std::size_t i = 0; i < size; ++i) {
        // From 1/2 to 3/2, with a random sign.
        const double size_of = std::ldexp(static_cast<double>(bits(i) >> 12U), -52) + 0.5;
        const double factor = bits(i) % 2 == 0 ? size_of : -size_of;
        for (std::size_t j = begin; j < end; ++j) {
          const double value = product_.result(i, j);
          const double addend = product_.beta == 0 ? 0 : product_.beta * product_.c(i, j);
          found[j] += factor * value;
          expected[j] += factor * addend;
          const double of_element = error_scale(size, product_.rounding, product_.alpha, value, addend);
          scale[j] += is_random ? factor * factor * of_element * of_element : size_of * of_element;
        }
        for (std::size_t k = begin; k < end; ++k) of_a[k] += factor * product_.a(i, k);
      }
    });
    for_columns([&](std::size_t begin, std::size_t end) {
      for (std::size_t k = 0; k < size; ++k) {
        const double factor = product_.alpha * of_a[k];
        for (std::size_t j = begin; j < end; ++j) expected[j] += factor * product_.b(k, j);
      }
    });
    std::vector<char> is_wrong(size);
    for (std::size_t j = 0; j < size; ++j) {
      // Errors of random inputs are independent of each other; those of a scaling may have all one sign.
      const double allowed = (is_random ? std::sqrt(scale[j]) : scale[j]) *
                             threshold(size, product_.rounding) * device::kEpsilon<Out>;
      const double smallest = static_cast<double>(size) * kSmallest<Out>;
      is_wrong[j] = static_cast<char>(!(std::abs(found[j] - expected[j]) <= allowed + smallest));
    }
    return is_wrong;
  }

  /// The worst element of a column that is wrong.
  [[nodiscard]] runtime::WorstPlace worst_of(std::size_t column) const {
    Comparison<In, Out> comparison(product_);
    for (std::size_t i = 0; i < product_.size; ++i) {
      long double sum = 0;
      for (std::size_t k = 0; k < product_.size; ++k) {
        sum += static_cast<long double>(product_.a(i, k)) * product_.b(k, column);
      }
      comparison.add(i, column, sum);
    }
    return comparison.verdict("").worst.value_or(
        runtime::WorstPlace{"column " + std::to_string(column) + " of c", 0, 0});
  }

  const Product<In, Out>& product_;
  std::uint64_t seed_;
  int threads_;
};

}  // namespace fabricmark::gemm
