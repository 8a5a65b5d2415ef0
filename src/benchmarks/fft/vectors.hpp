#pragma once

#include <complex>
#include <cstdint>
#include <span>

namespace fabricmark::fft {

/// Both directions of a transform. Nothing is scaled: an inverse after a forward one gives n times the input.
enum class Direction { kForward, kInverse };
inline const char* name(Direction direction) {
  return direction == Direction::kForward ? "forward" : "inverse";
}

/// A number from -1/2 to 1/2 that depends on the index only (SplitMix64), with all digits in use.
inline double noise(std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<double>((x ^ (x >> 31U)) >> 11U) * 0x1p-53 - 0.5;
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
