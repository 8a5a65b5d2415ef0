#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random_bits.hpp"
#include "device/element.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::stream {

/// The three arrays of STREAM, in the order in which they are named.
enum Array : std::size_t { kA = 0, kB = 1, kC = 2 };
inline constexpr std::size_t kArrays = 3;
inline constexpr std::array<const char*, kArrays> kArrayNames{"a", "b", "c"};

/// Factor of scale and triad, as in STREAM 5.10.
inline constexpr double kScalar = 3;

/// A number from 1 to below 2 of which every bit of the significand is random: half as many bits, or a byte
/// left out, show in nearly every element.
template <typename T>
T number(std::uint32_t bits) {
  return std::bit_cast<T>(0x3F800000U | bits >> 9U);
}
template <>
inline double number<double>(std::uint32_t bits) {
  const std::uint64_t all = static_cast<std::uint64_t>(bits) << 32U | mixed_bits_32(~bits);
  return std::bit_cast<double>(0x3FF0000000000000U | all >> 12U);
}
template <>
inline device::Half number<device::Half>(std::uint32_t bits) {
  return device::Half::of_bits(static_cast<std::uint16_t>(0x3C00U | bits >> 22U));
}

/// Fills `values` with the input a or b of one repetition; `first_index` is the index of values[0] over all
/// ranks, on which and on whose successors alone they depend. No two of arrays, repetitions and ranks have
/// anything to do with each other.
template <typename T>
void make_input(Array array, int repetition, std::uint64_t first_index, std::span<T> values) {
  const std::uint64_t which =
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(repetition)) << 2U | array;
  const auto key = static_cast<std::uint32_t>(mixed_bits(which * kRandomStep) >> 32U);
  // In runs of indices with the same upper half, for 32 bits are faster.
  for (std::size_t done = 0; done < values.size();) {
    const std::uint64_t index = first_index + done;
    const auto start = static_cast<std::uint32_t>(index);
    const std::uint32_t own_key = key ^ static_cast<std::uint32_t>(index >> 32U);
    const std::span<T> run = values.subspan(
        done, std::min<std::uint64_t>(values.size() - done, (std::uint64_t{1} << 32U) - start));
    for (std::size_t i = 0; i < run.size(); ++i) {
      run[i] = number<T>(mixed_bits_32((start + static_cast<std::uint32_t>(i)) ^ own_key));
    }
    done += run.size();
  }
}

/// What add puts into c: rounded once, as every device does.
template <typename T>
T sum(T a, T b) {
  return static_cast<T>(static_cast<double>(a) + static_cast<double>(b));
}
template <typename T>
T scaled(T value) {
  return static_cast<T>(kScalar * static_cast<double>(value));
}
/// What triad puts into a: 3 (a + b) + b, rounded at the end alone, as a fused multiply-add does.
template <typename T>
T fused_triad(T a, T b) {
  return static_cast<T>(std::fma(kScalar, static_cast<double>(sum(a, b)), static_cast<double>(b)));
}
template <>
inline float fused_triad<float>(float a, float b) {
  return static_cast<float>(kScalar * static_cast<double>(sum(a, b)) + static_cast<double>(b));  // exact
}

/// The same where the product is rounded too; it differs by at most the type's epsilon.
template <typename T>
T separate_triad(T a, T b) {
  return static_cast<T>(static_cast<double>(scaled(sum(a, b))) + static_cast<double>(b));
}

/// The arrays of one repetition: the inputs a and b, and what the three arrays hold at its end.
template <typename T>
struct Arrays {
  std::span<const T> a;
  std::span<const T> b;
  std::array<std::span<const T>, kArrays> results;
  [[nodiscard]] Arrays part(std::size_t start, std::size_t count) const {
    const auto cut = [&](std::span<const T> all) { return all.subspan(start, count); };
    return {cut(a), cut(b), {cut(results[kA]), cut(results[kB]), cut(results[kC])}};
  }
};

/// No more than a rounding: the threshold of the source (Meyer 2024, section 3.1.2) for triad and
/// scale. A copy is a copy.
template <typename T>
constexpr double threshold(Array array) {
  return array == kC ? 0 : device::kEpsilon<T>;
}

/// What element `i` should be: c as a is, unless a is wrong; b what scale makes of c.
template <typename T>
std::array<double, kArrays> expected(const Arrays<T>& arrays, std::size_t i) {
  const auto fused = static_cast<double>(fused_triad(arrays.a[i], arrays.b[i]));
  const auto is = static_cast<double>(arrays.results[kA][i]);
  const bool is_right = std::abs(is - fused) <= threshold<T>(kA) * fused;
  // Where a is wrong, either way of rounding is right in c: it then shows in a alone.
  const auto separate = static_cast<double>(separate_triad(arrays.a[i], arrays.b[i]));
  const bool is_separate = static_cast<double>(arrays.results[kC][i]) == separate;
  const double c = is_right ? is : is_separate ? separate : fused;
  return {fused, static_cast<double>(scaled(static_cast<T>(c))), c};
}

/// Adds element `i` to the verdicts.
template <typename T>
void check_element(const Arrays<T>& arrays, std::size_t i, std::size_t place,
                   std::array<runtime::Verdict, kArrays>& verdicts) {
  const std::array<double, kArrays> should_be = expected(arrays, i);
  for (const Array array : {kA, kB, kC}) {
    const auto is = static_cast<double>(arrays.results[array][i]);
    if (is == should_be[array]) continue;
    double error = std::abs(is - should_be[array]) / should_be[array];
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    runtime::Verdict& verdict = verdicts[array];
    if (error <= verdict.error) continue;
    verdict.error = error;
    verdict.worst = {std::string(kArrayNames[array]) + "[" + std::to_string(place) + "]", should_be[array],
                     is};
  }
}

/// Compares every element of the three arrays with what one repetition makes of its inputs: c = a + b;
/// a = b + 3 c; c = a; b = 3 c. So a depends on what add has left in c, c is what copy made of a, and b what
/// scale made of c. `start` is the place of the first element, for the places that are named.
template <typename T>
std::array<runtime::Verdict, kArrays> check(const Arrays<T>& arrays, std::size_t start = 0) {
  std::array<runtime::Verdict, kArrays> verdicts;
  for (const Array array : {kA, kB, kC}) {
    verdicts[array].name = std::string("array ") + kArrayNames[array];
    verdicts[array].threshold = threshold<T>(array);
    verdicts[array].checked = arrays.a.size();
  }
  // Most blocks are right in every bit, which is seen without a branch.
  constexpr std::size_t kBlock = 1024;
  for (std::size_t first = 0; first < arrays.a.size(); first += kBlock) {
    const Arrays<T> block = arrays.part(first, std::min(kBlock, arrays.a.size() - first));
    const auto& [a, b, c] = block.results;
    unsigned different = 0;
    for (std::size_t i = 0; i < block.a.size(); ++i) {
      const unsigned is_triad = static_cast<unsigned>(a[i] == fused_triad(block.a[i], block.b[i])) |
                                static_cast<unsigned>(a[i] == separate_triad(block.a[i], block.b[i]));
      different |= (1U - is_triad) | static_cast<unsigned>(!(c[i] == a[i])) |
                   static_cast<unsigned>(!(b[i] == scaled(c[i])));
    }
    for (std::size_t i = 0; different != 0 && i < block.a.size(); ++i) {
      check_element(block, i, start + first + i, verdicts);
    }
  }
  return verdicts;
}

/// Adds what was found in another part of the same arrays.
inline void merge(std::array<runtime::Verdict, kArrays>& verdicts,
                  const std::array<runtime::Verdict, kArrays>& found) {
  for (const Array array : {kA, kB, kC}) {
    const std::size_t checked = verdicts[array].checked + found[array].checked;
    if (found[array].error > verdicts[array].error) verdicts[array] = found[array];
    verdicts[array].checked = checked;
  }
}

/// The same for `results` whose inputs are made once more, a few at a time: those of a repetition from
/// `first_index` on (see make_input()).
template <typename T>
std::array<runtime::Verdict, kArrays> check(const std::array<std::span<const T>, kArrays>& results,
                                            int repetition, std::uint64_t first_index, std::size_t start) {
  constexpr std::size_t kAtATime = 8192;  // in a core's own cache
  std::vector<T> a(kAtATime);
  std::vector<T> b(kAtATime);
  Arrays<T> arrays{.a = {}, .b = {}, .results = results};
  std::array<runtime::Verdict, kArrays> verdicts = check(arrays.part(0, 0));
  for (std::size_t first = 0; first < results[kA].size(); first += kAtATime) {
    const std::size_t count = std::min(kAtATime, results[kA].size() - first);
    arrays.a = std::span(a).first(count);
    arrays.b = std::span(b).first(count);
    for (const Array array : {kA, kB, kC}) arrays.results[array] = results[array].subspan(first, count);
    make_input<T>(kA, repetition, first_index + first, std::span(a).first(count));
    make_input<T>(kB, repetition, first_index + first, std::span(b).first(count));
    merge(verdicts, check(arrays, start + first));
  }
  return verdicts;
}

}  // namespace fabricmark::stream
