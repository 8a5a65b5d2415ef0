#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "harness/random_bits.hpp"

namespace fabricmark::fft {

/// Both directions of a transform. Nothing is scaled: an inverse after a forward one gives n times the input.
enum class Direction { kForward, kInverse };
inline const char* name(Direction direction) {
  return direction == Direction::kForward ? "forward" : "inverse";
}

/// A number from -1/2 to 1/2 that depends on the index only (SplitMix64), with all digits in use.
inline double noise(std::uint64_t index) {
  const std::uint64_t bits = harness::mixed_bits((index + 1) * harness::kRandomStep);
  return static_cast<double>(bits >> 11U) * 0x1p-53 - 0.5;
}

/// Fills `points` with the input from point number `first` of all ranks on: no two transforms, nor parts of
/// one, are alike.
template <typename T>
void fill_input(std::span<std::complex<T>> points, std::uint64_t first) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {static_cast<T>(noise(2 * (first + i))), static_cast<T>(noise(2 * (first + i) + 1))};
  }
}

}  // namespace fabricmark::fft
