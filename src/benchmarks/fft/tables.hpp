#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

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

/// cos and sin of -2 pi `index` / `points`, exact to the last digit of T: of angles below a quarter of a
/// turn, as larger ones are rounded more than their sine may be wrong. `points`: a power of two from 4 on.
template <typename T>
std::pair<T, T> twiddle(std::size_t index, std::size_t points) {
  using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const std::size_t quarter = points / 4;
  const Wider angle =
      -2 * std::numbers::pi_v<Wider> * static_cast<Wider>(index % quarter) / static_cast<Wider>(points);
  std::pair<T, T> found{static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
  for (std::size_t turn = index % points / quarter; turn > 0; --turn) found = {found.second, -found.first};
  return found;
}

/// All of transforms of `points`: cosine and sine in turn. On so many threads.
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

/// Of a power of two.
inline std::size_t log2(std::size_t power) { return static_cast<std::size_t>(std::bit_width(power)) - 1; }

/// Passes, of radix 2^`log_largest` or less, over 2^`log_size` points.
inline std::size_t passes_of(std::size_t log_size, std::size_t log_largest) {
  return (log_size + log_largest - 1) / log_largest;
}

/// They share out the bits of a point's number, as kernels/fft/throughput_gpu.h does. Smaller ones first.
inline std::vector<std::size_t> log_radices_of(std::size_t log_size, std::size_t passes) {
  std::vector<std::size_t> radices;
  for (std::size_t pass = 0; pass < passes; ++pass) radices.push_back((log_size + pass) / passes);
  return radices;
}

/// Those of passes of radix 2^`log_radices` (smaller ones first, of at most two kinds) in steps of radix 16
/// or less, as kernels/fft/throughput_gpu.h reads them: of the larger kind, then of the smaller, for each
/// step but the first six rows of cosines and sines, of the powers 1, 2, 3, 4, 8 and 12.
template <typename T>
device::HostArray<T> twiddles_of_steps(const std::vector<std::size_t>& log_radices) {
  std::vector<T> numbers;
  const auto add = [&](std::size_t log_radix) {
    const std::size_t steps = (log_radix + 3) / 4;
    std::size_t inner = std::size_t{1} << log_radix / steps;  // points of a column in the steps before
    for (std::size_t step = 1; step < steps; ++step) {
      const std::size_t points = inner << (log_radix + step) / steps;
      for (const std::size_t power : {1U, 2U, 3U, 4U, 8U, 12U}) {
        for (std::size_t done = 0; done < inner; ++done) {
          const auto [cosine, sine] = twiddle<T>(power * done, points);
          numbers.insert(numbers.end(), {cosine, sine});
        }
      }
      inner = points;
    }
  };
  add(log_radices.back());
  if (log_radices.front() != log_radices.back()) add(log_radices.front());
  device::HostArray<T> table(std::max<std::size_t>(2, numbers.size()));  // none where each pass is one step
  std::ranges::fill(table.span(), T{0});
  std::ranges::copy(numbers, table.data());
  return table;
}

/// Those of a pipeline that takes eight points a cycle, for the positions of its first stage one behind the
/// other: 12 numbers each, the cosines of the lanes 4 to 7, their sines, the cosines of the lanes 2 and 3,
/// and their sines (kernels/fft/pipeline.h). Lanes of odd numbers are an eighth of the points further on.
/// `points`: from 8 on.
template <typename T>
device::HostArray<T> pipeline_twiddles(std::size_t points) {
  const std::size_t steps = points / 8;
  device::HostArray<T> table(12 * steps);
  for (std::size_t m = 0; m < steps; ++m) {
    T* const numbers = table.data() + 12 * m;
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::size_t odd = (lane < 2 ? 1 : 3) * (m + lane % 2 * steps);
      std::tie(numbers[lane], numbers[4 + lane]) = twiddle<T>(odd, points);
    }
    for (std::size_t lane = 0; lane < 2; ++lane) {
      std::tie(numbers[8 + lane], numbers[10 + lane]) = twiddle<T>(2 * (m + lane * steps), points);
    }
  }
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
