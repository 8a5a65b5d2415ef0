#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/element.hpp"

namespace fabricmark::stream {

/// The three arrays of STREAM, in the order in which they are named.
enum Array : std::size_t { kA = 0, kB = 1, kC = 2 };
inline constexpr std::size_t kArrays = 3;
inline constexpr std::array<const char*, kArrays> kArrayNames{"a", "b", "c"};

/// Factor of scale and triad, as in STREAM 5.10.
inline constexpr double kScalar = 3;

/// The input a[i] of the element with this index over all ranks: a whole number from 1 to 128, different from
/// its neighbours', so that swapped or shifted blocks show.
///
/// One repetition takes a to c = a; b = 3 c; c = a + b; a = b + 3 c, that is b = 3 a, c = 4 a and a = 15 a:
/// whole numbers up to 1920, exact in half precision too. As the arrays are written anew in each repetition,
/// nothing grows with their number, and any difference at all is an error.
inline double input(std::uint64_t index) {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
  constexpr int kKeepSevenBits = 57;
  return 1 + static_cast<double>((index * kGoldenRatio) >> kKeepSevenBits);
}

/// What array `array` holds at that index after one repetition.
inline double expected(Array array, std::uint64_t index) {
  constexpr std::array<double, kArrays> kFactors{kScalar + kScalar * (1 + kScalar), kScalar, 1 + kScalar};
  return kFactors[array] * input(index);
}

/// Compares every value with what is expected; `first_index` is the index of values[0] over all ranks. The
/// threshold is the type's epsilon (dissertation 000, section 3.1.2), the error relative.
template <typename T>
harness::Verdict check(Array array, std::span<const T> values, std::uint64_t first_index) {
  harness::Verdict verdict;
  verdict.name = std::string("array ") + kArrayNames[array];
  verdict.threshold = harness::kEpsilon<T>;
  verdict.checked = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double should_be = expected(array, first_index + i);
    const auto is = static_cast<double>(values[i]);
    if (is == should_be) continue;
    double error = std::abs(is - should_be) / should_be;
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error <= verdict.error) continue;
    verdict.error = error;
    verdict.worst = {std::string(kArrayNames[array]) + "[" + std::to_string(i) + "]", should_be, is};
  }
  return verdict;
}

}  // namespace fabricmark::stream
