#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "benchmarks/fft/vectors.hpp"

namespace fabricmark::fft {

/// Transforms of one size by FFTW in double precision, in place.
class Reference {
 public:
  /// `threads`: at work on one transform, where it is so long that they pay.
  explicit Reference(std::size_t points, int threads = 1);
  ~Reference();

  /// Bytes of host memory for so many points.
  static double bytes(double points) { return sizeof(std::complex<double>) * points; }

  [[nodiscard]] std::span<std::complex<double>> points();
  [[nodiscard]] std::span<const std::complex<double>> points() const;
  void transform(Direction direction);

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

/// Transforms input(0), input(1), ... in `reference`. Returns the root mean square of the transform, which
/// follows from the input (Parseval).
template <typename Input>
double transform_in(Reference& reference, Input&& input, Direction direction, int threads) {
  const std::span<std::complex<double>> points = reference.points();
  double squares = 0;
  std::mutex adding;
  parallel_for(points.size(), threads, kWorthAThread, [&](std::size_t begin, std::size_t end) {
    double part = 0;
    for (std::size_t i = begin; i < end; ++i) {
      points[i] = static_cast<std::complex<double>>(input(i));
      part += std::norm(points[i]);
    }
    const std::scoped_lock lock(adding);
    squares += part;
  });
  reference.transform(direction);
  return std::sqrt(squares);
}

/// How threads share the transforms of a batch.
struct Threads {
  int side_by_side = 1;
  int of_each = 1;
};
inline Threads shared_threads(std::size_t batch, int threads) {
  const int side_by_side =
      static_cast<int>(std::clamp<std::size_t>(batch, 1, static_cast<std::size_t>(std::max(threads, 1))));
  return {side_by_side, std::max(threads / side_by_side, 1)};
}

/// The references of a check, one for each transform that is in progress. Those that come back serve again:
/// to touch new memory takes longer than a transform.
class References {
 public:
  References(std::size_t points, const Threads& threads) : points_(points), threads_(threads) {}

  [[nodiscard]] const Threads& threads() const { return threads_; }
  [[nodiscard]] std::unique_ptr<Reference> take();
  void give(std::unique_ptr<Reference> one);

 private:
  std::size_t points_;
  Threads threads_;
  std::mutex taking_;
  std::vector<std::unique_ptr<Reference>> free_;
};

}  // namespace fabricmark::fft
