#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "base/random_bits.hpp"

namespace fabricmark::fft {

/// Both directions of a transform. Nothing is scaled: an inverse after a forward one gives n times the input.
enum class Direction { kForward, kInverse };
inline const char* name(Direction direction) {
  return direction == Direction::kForward ? "forward" : "inverse";
}

/// What the input of a direction in a repetition (negative in the warm-up) depends on, beside the place.
inline std::uint64_t input_seed(int repetition, Direction direction) {
  const std::uint64_t which = 2 * static_cast<std::uint64_t>(static_cast<std::uint32_t>(repetition)) +
                              (direction == Direction::kForward ? 0 : 1);
  return mixed_bits((which + 1) * kRandomStep);
}

/// A point of an input: both parts from -1/2 to 1/2, with all digits in use; it depends on seed and index
/// alone.
template <typename T>
std::complex<T> input_point(std::uint64_t seed, std::uint64_t index) {
  if constexpr (std::is_same_v<T, float>) {
    const std::uint64_t bits = mixed_bits(seed + (index + 1) * kRandomStep);
    constexpr float kScale = 0x1p-32F;
    return {static_cast<float>(static_cast<std::int32_t>(bits >> 32U)) * kScale,
            static_cast<float>(static_cast<std::int32_t>(bits)) * kScale};
  } else {
    const auto part = [&](std::uint64_t place) {
      const std::uint64_t bits = mixed_bits(seed + (place + 1) * kRandomStep);
      return static_cast<T>(static_cast<std::int64_t>(bits)) * 0x1p-64;
    };
    return {part(2 * index), part(2 * index + 1)};
  }
}
inline constexpr double kInputVariance = 1.0 / 6;  ///< of the absolute value of a point

/// Fills `points` with an input from point number `first` of all ranks on: no two transforms, nor parts of
/// one, are alike.
template <typename T>
void fill_input(std::span<std::complex<T>> points, std::uint64_t seed, std::uint64_t first) {
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = input_point<T>(seed, first + i);
}

}  // namespace fabricmark::fft
