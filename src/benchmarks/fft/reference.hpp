#pragma once

#include <algorithm>
#include <complex>
#include <memory>
#include <span>

#include "benchmarks/fft/vectors.hpp"

namespace fabricmark::fft {

/// Transforms of one size by FFTW in double precision, in place.
class Reference {
 public:
  /// `threads`: at work on one transform, where it is so long that they pay.
  Reference(std::size_t points, Direction direction, int threads = 1);
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  /// Bytes of host memory for so many points.
  static double bytes(double points) { return sizeof(std::complex<double>) * points; }

  [[nodiscard]] std::span<std::complex<double>> points();
  [[nodiscard]] std::span<const std::complex<double>> points() const;
  void transform();

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

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

}  // namespace fabricmark::fft
