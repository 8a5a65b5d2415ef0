#pragma once

#include <complex>
#include <memory>
#include <span>

#include "benchmarks/fft/vectors.hpp"

namespace fabricmark::fft {

/// Transforms of one size by FFTW in double precision, in place.
class Reference {
 public:
  Reference(std::size_t points, Direction direction);
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  [[nodiscard]] std::span<std::complex<double>> points();
  void transform();

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace fabricmark::fft
