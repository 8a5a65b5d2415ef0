// Transforms that are computed with fewer digits than their type has.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "benchmarks/fft/check.hpp"
#include "benchmarks/fft/random_sum.hpp"

namespace fabricmark::fft {

namespace {

/// A number with `bits` digits (Veltkamp).
double rounded(double value, int bits) {
  const double scaled = value * (std::ldexp(1.0, 53 - bits) + 1);
  return scaled - (scaled - value);
}

/// A plain radix-2 transform in double, with twiddles, or all intermediate results, of so many digits.
std::vector<std::complex<double>> transform_with(std::vector<std::complex<double>> points, int twiddle_bits,
                                                 int bits) {
  const std::size_t size = points.size();
  std::vector<std::complex<double>> other(size);
  for (std::size_t half = size / 2, done = 1; half > 0; half /= 2, done *= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      for (std::size_t k = 0; k < done; ++k) {
        const double angle = -std::numbers::pi * static_cast<double>(k) / static_cast<double>(done);
        const std::complex<double> twiddle(rounded(std::cos(angle), twiddle_bits),
                                           rounded(std::sin(angle), twiddle_bits));
        const std::complex<double> a = points[j * done + k];
        const std::complex<double> b = twiddle * points[(j + half) * done + k];
        const auto keep = [&](std::complex<double> value) {
          return std::complex<double>(rounded(value.real(), bits), rounded(value.imag(), bits));
        };
        other[2 * j * done + k] = keep(a + b);
        other[(2 * j + 1) * done + k] = keep(a - b);
      }
    }
    std::swap(points, other);
  }
  return points;
}

TEST(ReducedPrecision, InFloatIsFoundByBothChecksAtEverySize) {
  constexpr std::size_t kBatch = 4;
  for (const std::size_t log_size : {std::size_t{3}, std::size_t{8}, std::size_t{12}, std::size_t{16}}) {
    const std::size_t points = std::size_t{1} << log_size;
    std::vector<std::complex<float>> inputs(kBatch * points);
    fill_input<float>(inputs, 5, 0);
    const RandomSum<float> random(log_size, 0, points);
    const auto is_found = [&](int twiddle_bits, int bits) {
      std::vector<std::complex<float>> results;
      for (std::size_t start = 0; start < inputs.size(); start += points) {
        const auto first = inputs.begin() + static_cast<std::ptrdiff_t>(start);
        for (const std::complex<double>& point :
             transform_with({first, first + static_cast<std::ptrdiff_t>(points)}, twiddle_bits, bits)) {
          results.push_back(static_cast<std::complex<float>>(point));
        }
      }
      SumVerdict<float> sums(random, Direction::kForward);
      for (std::size_t start = 0; start < inputs.size(); start += points) {
        sums.add([&](std::size_t i) { return inputs[start + i]; }, std::span(results).subspan(start, points),
                 0);
      }
      const bool by_sums = !sums.verdict().passed();
      References references(points, {});
      const auto input = [&](std::size_t i) { return inputs[i]; };
      const bool by_points =
          !check_batch<float>(references, input, results, log_size, Direction::kForward)[0].passed();
      return std::array{by_sums, by_points};
    };
    EXPECT_EQ(is_found(24, 24), (std::array{false, false})) << "honest, 2^" << log_size;
    for (const int bits : {8, 11, 16}) {  // bfloat16, half and TF32, two bfloat16
      EXPECT_EQ(is_found(24, bits), (std::array{true, true})) << bits << " bits, 2^" << log_size;
      // All twiddles of eight points but the root of one half are exact in any type.
      if (log_size == 3 && bits == 16) continue;
      EXPECT_EQ(is_found(bits, 24), (std::array{true, true})) << bits << " of twiddles, 2^" << log_size;
    }
  }
}

}  // namespace

}  // namespace fabricmark::fft
