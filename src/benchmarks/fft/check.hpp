#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "benchmarks/fft/reference.hpp"
#include "harness/benchmark.hpp"
#include "harness/element.hpp"

namespace fabricmark::fft {

/// Largest error of a right result, in units of eps times the root mean square of the transform. Errors grow
/// with the root of log2 n (Gentleman and Sande 1966), the largest of n with the root of its logarithm
/// too: their product, with room for twiddles that are rounded as well.
inline double threshold(std::size_t log_size) { return 3 + 2 * static_cast<double>(log_size); }

/// The source's residual accepts this: |d - d'| / (eps log2 n) below it, with transforms scaled by 1 /
/// sqrt(n) so that results are as large as inputs.
constexpr double kResidualThreshold = 1;

/// Compares transforms of 2^log_size points with FFTW's, point by point.
template <typename T>
class Comparison {
 public:
  Comparison(std::size_t log_size, Direction direction) : log_size_(log_size), direction_(direction) {}

  /// One transform, or the part of one from `first` on; `reference` holds that part of the right result,
  /// `rms` is the root mean square of the whole of it, and `batch_index` says which transform it is.
  void add(std::span<const std::complex<T>> result, std::span<const std::complex<double>> reference,
           double rms, std::size_t first, std::size_t batch_index) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::complex<double> actual(result[i].real(), result[i].imag());
      const double distance = std::sqrt(std::norm(actual - reference[i]));  // faster than abs()
      double error = distance / (rms * harness::kEpsilon<T>);
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      distance_ = std::max(distance_, std::isnan(distance) ? error : distance);
      ++checked_;
      if (error <= error_) continue;
      error_ = error;
      worst_ = {"point " + std::to_string(first + i) + " of transform " + std::to_string(batch_index),
                std::abs(reference[i]), std::abs(actual)};
    }
  }

  [[nodiscard]] std::vector<harness::Verdict> verdicts() const { return {transforms(), residual()}; }

 private:
  [[nodiscard]] harness::Verdict residual() const {
    const auto log_size = static_cast<double>(log_size_);
    harness::Verdict verdict;
    verdict.name = std::string(name(direction_)) + " residual";
    verdict.measure = "largest error of transforms scaled by 1 / sqrt(n), over eps log2 n";
    verdict.error = distance_ / std::exp2(log_size / 2) / (harness::kEpsilon<T> * log_size);
    verdict.threshold = kResidualThreshold;
    verdict.checked = checked_;
    return verdict;
  }

  [[nodiscard]] harness::Verdict transforms() const {
    harness::Verdict verdict;
    verdict.name = std::string(name(direction_)) + " transforms";
    verdict.measure = "largest error in eps times the transform's root mean square";
    verdict.error = error_;
    verdict.threshold = threshold(log_size_);
    verdict.checked = checked_;
    if (error_ > 0) verdict.worst = worst_;
    return verdict;
  }

  std::size_t log_size_;
  Direction direction_;
  double error_ = 0;
  double distance_ = 0;
  std::size_t checked_ = 0;
  harness::WorstPlace worst_;
};

inline double root_mean_square(std::span<const std::complex<double>> points) {
  double squares = 0;
  for (const std::complex<double>& point : points) squares += std::norm(point);
  return std::sqrt(squares / static_cast<double>(points.size()));
}

/// A whole batch: `inputs` and `results` of batch x n points.
template <typename T>
std::vector<harness::Verdict> check_batch(std::span<const std::complex<T>> inputs,
                                          std::span<const std::complex<T>> results, std::size_t log_size,
                                          Direction direction) {
  const std::size_t points = std::size_t{1} << log_size;
  Reference reference(points, direction);
  Comparison<T> comparison(log_size, direction);
  for (std::size_t start = 0; start < inputs.size(); start += points) {
    for (std::size_t i = 0; i < points; ++i) {
      reference.points()[i] = {inputs[start + i].real(), inputs[start + i].imag()};
    }
    reference.transform();
    comparison.add(results.subspan(start, points), reference.points(), root_mean_square(reference.points()),
                   0, start / points);
  }
  return comparison.verdicts();
}

}  // namespace fabricmark::fft
