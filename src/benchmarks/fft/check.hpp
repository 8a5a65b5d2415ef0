#pragma once

#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "benchmarks/fft/reference.hpp"
#include "device/element.hpp"
#include "runtime/benchmark.hpp"

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
      double error = distance / (rms * device::kEpsilon<T>);
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      distance_ = std::max(distance_, std::isnan(distance) ? error : distance);
      ++checked_;
      if (error <= error_) continue;
      error_ = error;
      worst_index_ = (batch_index << log_size_) + first + i;
      worst_ = {"point " + std::to_string(first + i) + " of transform " + std::to_string(batch_index),
                std::abs(reference[i]), std::abs(actual)};
    }
  }

  /// Another one of the same transforms that has seen nothing yet.
  [[nodiscard]] Comparison empty() const { return Comparison(log_size_, direction_); }

  /// Takes over what another comparison found; of places that are equally wrong the first stays.
  void merge(const Comparison& other) {
    checked_ += other.checked_;
    distance_ = std::max(distance_, other.distance_);
    if (other.error_ < error_ || (other.error_ == error_ && other.worst_index_ >= worst_index_)) return;
    error_ = other.error_;
    worst_index_ = other.worst_index_;
    worst_ = other.worst_;
  }

  [[nodiscard]] std::vector<runtime::Verdict> verdicts() const { return {transforms(), residual()}; }

 private:
  [[nodiscard]] runtime::Verdict residual() const {
    const auto log_size = static_cast<double>(log_size_);
    runtime::Verdict verdict;
    verdict.name = std::string(name(direction_)) + " residual";
    verdict.measure = "largest error of transforms scaled by 1 / sqrt(n), over eps log2 n";
    verdict.error = distance_ / std::exp2(log_size / 2) / (device::kEpsilon<T> * log_size);
    verdict.threshold = kResidualThreshold;
    verdict.checked = checked_;
    return verdict;
  }

  [[nodiscard]] runtime::Verdict transforms() const {
    runtime::Verdict verdict;
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
  std::size_t worst_index_ = 0;
  runtime::WorstPlace worst_;
};

/// Comparison::add() on several threads.
template <typename T>
void add_parts(Comparison<T>& comparison, std::span<const std::complex<T>> result,
               std::span<const std::complex<double>> reference, double rms, std::size_t first,
               std::size_t batch_index, int threads) {
  if (threads == 1) return comparison.add(result, reference, rms, first, batch_index);
  std::mutex merging;
  parallel_for(result.size(), threads, kWorthAThread, [&](std::size_t begin, std::size_t end) {
    Comparison<T> part = comparison.empty();
    part.add(result.subspan(begin, end - begin), reference.subspan(begin, end - begin), rms, first + begin,
             batch_index);
    const std::scoped_lock lock(merging);
    comparison.merge(part);
  });
}

/// A whole batch: `input(i)` gives point number i of all transforms, `results` holds theirs. Transforms side
/// by side, and where these are fewer than the threads, each on several.
template <typename T, typename Input>
std::vector<runtime::Verdict> check_batch(References& references, Input&& input,
                                          std::span<const std::complex<T>> results, std::size_t log_size,
                                          Direction direction) {
  const std::size_t points = std::size_t{1} << log_size;
  const Threads& shared = references.threads();
  Comparison<T> comparison(log_size, direction);
  std::mutex merging;
  const auto check_some = [&](std::size_t begin, std::size_t end) {
    std::unique_ptr<Reference> reference = references.take();
    Comparison<T> own(log_size, direction);
    for (std::size_t transform = begin; transform < end; ++transform) {
      const std::size_t first = transform * points;
      const double rms = transform_in(
          *reference, [&](std::size_t i) { return input(first + i); }, direction, shared.of_each);
      add_parts<T>(own, results.subspan(first, points), reference->points(), rms, 0, transform,
                   shared.of_each);
    }
    references.give(std::move(reference));
    const std::scoped_lock lock(merging);
    comparison.merge(own);
  };
  parallel_for(results.size() / points, shared.side_by_side,
               std::max<std::size_t>(1, kWorthAThread >> log_size), check_some);
  return comparison.verdicts();
}

}  // namespace fabricmark::fft
