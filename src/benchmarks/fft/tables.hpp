#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <tuple>

#include "base/parallel.hpp"
#include "device/memory.hpp"

namespace fabricmark::fft {

/// A transform as a matrix of rows x columns points (four-step form), as the throughput kernels take it.
struct Steps {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

inline Steps steps(std::size_t log_size) {
  return {std::size_t{1} << ((log_size + 1) / 2), std::size_t{1} << (log_size / 2)};
}

/// cos and sin of -2 pi `index` / `points`, exact to the last digit of T.
template <typename T>
std::pair<T, T> twiddle(std::size_t index, std::size_t points) {
  using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const Wider angle =
      -2 * std::numbers::pi_v<Wider> * static_cast<Wider>(index % points) / static_cast<Wider>(points);
  return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}

/// The twiddles of transforms of `points`: cosine and sine in turn. On so many threads.
template <typename T>
device::HostArray<T> twiddles(std::size_t points, int threads = 1) {
  device::HostArray<T> table(2 * points);
  parallel_for(points, threads, kWorthAThread, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::tie(table[2 * i], table[2 * i + 1]) = twiddle<T>(i, points);
    }
  });
  return table;
}

/// The twiddles between the steps for `count` columns from `first` on: all cosines row by row, then all
/// sines. On so many threads.
template <typename T>
device::HostArray<T> between_steps(const Steps& size, std::size_t first, std::size_t count, int threads = 1) {
  device::HostArray<T> table(2 * size.rows * count);
  parallel_for(size.rows, threads, kWorthAThread / count + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t column = 0; column < count; ++column) {
        const std::size_t place = row * count + column;
        std::tie(table[place], table[size.rows * count + place]) =
            twiddle<T>(row * (first + column), size.rows * size.columns);
      }
    }
  });
  return table;
}

}  // namespace fabricmark::fft
