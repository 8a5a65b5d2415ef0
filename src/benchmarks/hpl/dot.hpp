#pragma once

#include <cmath>
#include <cstddef>

namespace fabricmark::hpl {

/// The sum of products of numbers of type T with doubles; in several sums side by side, which vector units
/// need and which keeps rounding errors small.
template <typename T>
double dot(const T* left, const double* right, std::size_t count) {
  constexpr std::size_t kLanes = 16;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += static_cast<double>(left[i + lane]) * right[i + lane];
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(left[i]) * right[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// The sum of the absolute values, in the same way.
template <typename T>
double absolute_sum(const T* values, std::size_t count) {
  constexpr std::size_t kLanes = 16;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += std::abs(static_cast<double>(values[i + lane]));
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += std::abs(static_cast<double>(values[i]));
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace fabricmark::hpl
