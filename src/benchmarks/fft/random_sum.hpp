#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>
#include <string>

#include "base/parallel.hpp"
#include "benchmarks/fft/reference.hpp"
#include "device/element.hpp"
#include "device/memory.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::fft {

/// Checks whole transforms in time n, after one of FFTW: a transform F is its own transpose, so that sum(w F
/// x) = sum((F w) x) for any factors w. With random w any wrong point, and points in a wrong order, show;
/// each transform is checked by itself.
///
/// An inverse transform is the conjugate of the forward one of the conjugate, so that one F w serves both.
template <typename T>
class RandomSum {
 public:
  /// Factors for the `count` points from `first` on of transforms of 2^log_size; those of other points are 0.
  /// `threads`: of the host, to make them.
  RandomSum(std::size_t log_size, std::size_t first, std::size_t count, int threads = 1)
      : log_size_(log_size),
        factors_(count),
        transformed_(std::make_unique<Reference>(std::size_t{1} << log_size, threads)) {
    const auto factor = [&](std::size_t i) {
      if (i < first || i >= first + count) return std::complex<float>(0);
      return factors_[i - first] = input_point<float>(kRandomStep, i);
    };
    root_of_squares_ = transform_in(*transformed_, factor, Direction::kForward, threads);
  }

  /// Its memory for other transforms; there are no more sums then.
  [[nodiscard]] std::unique_ptr<Reference> release() { return std::move(transformed_); }

  /// Bytes of host memory for n points of which a rank has `count`.
  static double bytes(double points, double count) {
    return Reference::bytes(points) + sizeof(std::complex<float>) * count;
  }

  /// The error of a transform in eps times the root mean square of its points and of the factors times the
  /// root of their number: that of a typical point. `input(i)` gives a point of the input, `result` those of
  /// the transform that have factors. On so many threads.
  template <typename Input>
  [[nodiscard]] double error(Input&& input, std::span<const std::complex<T>> result, Direction direction,
                             int threads = 1) const {
    const Wide sign = direction == Direction::kForward ? 1 : -1;
    const std::complex<Wide> found =
        sum(threads, sign, factors_.span(), [&](std::size_t i) { return result[i]; });
    const std::complex<Wide> expected = sum(threads, sign, std::as_const(*transformed_).points(), input);
    const double points = std::exp2(static_cast<double>(log_size_));
    const double unit = device::kEpsilon<T> * std::sqrt(kInputVariance * points) * root_of_squares_;
    const auto error = static_cast<double>(std::abs(found - expected) / unit);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }

  /// The largest error of right results, in those units: of a typical point it is below log2 n / 4 + 1 (see
  /// threshold()), that of the sum over so many follows the normal distribution.
  [[nodiscard]] double threshold() const { return 4 + static_cast<double>(log_size_) / 2; }

 private:
  /// Wide enough that the sum's own rounding errors count for nothing beside those of the transform.
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

  /// sum(factor number).
  template <typename Factor, typename Number>
  static std::complex<Wide> sum(int threads, Wide sign, std::span<const Factor> factors, Number&& number) {
    if (threads == 1) return sum_of_part(0, factors.size(), sign, factors, number);
    std::complex<Wide> all = 0;
    std::mutex adding;
    parallel_for(factors.size(), threads, kWorthAThread, [&](std::size_t begin, std::size_t end) {
      const std::complex<Wide> part = sum_of_part(begin, end, sign, factors, number);
      const std::scoped_lock lock(adding);
      all += part;
    });
    return all;
  }

  template <typename Factor, typename Number>
  static std::complex<Wide> sum_of_part(std::size_t begin, std::size_t end, Wide sign,
                                        std::span<const Factor> factors, Number&& number) {
    Wide re = 0;
    Wide im = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto value = number(i);
      const Wide value_re = value.real();
      const Wide value_im = sign * value.imag();
      const Wide factor_re = factors[i].real();
      const Wide factor_im = factors[i].imag();
      re += factor_re * value_re - factor_im * value_im;
      im += factor_re * value_im + factor_im * value_re;
    }
    return {re, im};
  }

  std::size_t log_size_;
  double root_of_squares_ = 0;  // of the factors
  device::HostArray<std::complex<float>> factors_;
  std::unique_ptr<Reference> transformed_;
};

/// The check of one repetition's transforms in one direction.
template <typename T>
class SumVerdict {
 public:
  SumVerdict(const RandomSum<T>& sums, Direction direction) : sums_(sums), direction_(direction) {}

  template <typename Input>
  void add(Input&& input, std::span<const std::complex<T>> result, std::size_t transform, int threads = 1) {
    const double error = sums_.error(input, result, direction_, threads);
    take(error, result.size(), transform);
  }
  /// Another one of the same direction that has seen nothing yet.
  [[nodiscard]] SumVerdict empty() const { return SumVerdict(sums_, direction_); }
  /// Takes over what another one has found.
  void merge(const SumVerdict& other) { take(other.error_, other.checked_, other.transform_); }

  [[nodiscard]] runtime::Verdict verdict() const {
    runtime::Verdict verdict;
    verdict.name = fmt::format("{} repetitions", name(direction_));
    verdict.measure = "largest error of a transform's random sum, in eps times the root mean square";
    verdict.error = error_;
    verdict.threshold = sums_.threshold();
    verdict.checked = checked_;
    if (error_ > 0) verdict.worst = {{fmt::format("the sum of transform {}", transform_), 0, error_}};
    return verdict;
  }

 private:
  void take(double error, std::size_t points, std::size_t transform) {
    checked_ += points;
    if (error < error_ || (error == error_ && transform >= transform_)) return;
    error_ = error;
    transform_ = transform;
  }

  const RandomSum<T>& sums_;
  Direction direction_;
  double error_ = 0;
  std::size_t transform_ = 0;
  std::size_t checked_ = 0;
};

/// Adds every transform of a batch, on several threads; `input(i)` gives point number i of all.
template <typename T, typename Input>
void add_batch(SumVerdict<T>& verdict, Input&& input, std::span<const std::complex<T>> results,
               std::size_t log_size, int threads) {
  const std::size_t points = std::size_t{1} << log_size;
  const std::size_t batch = results.size() / points;
  const Threads shared = shared_threads(batch, threads);
  std::mutex merging;
  const auto add_some = [&](std::size_t begin, std::size_t end) {
    SumVerdict<T> own = verdict.empty();
    for (std::size_t transform = begin; transform < end; ++transform) {
      const std::size_t first = transform * points;
      own.add([&](std::size_t i) { return input(first + i); }, results.subspan(first, points), transform,
              shared.of_each);
    }
    const std::scoped_lock lock(merging);
    verdict.merge(own);
  };
  parallel_for(batch, shared.side_by_side, std::max<std::size_t>(1, kWorthAThread >> log_size), add_some);
}

}  // namespace fabricmark::fft
