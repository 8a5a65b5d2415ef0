#include <algorithm>
#include <cstddef>

#include "base/host.hpp"
#include "calibrate/host.hpp"
#include "calibrate/timing.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fabricmark::calibrate {

#if defined(__x86_64__)

namespace {

constexpr std::size_t kChains = 12;  // hide the latency of two units at once
constexpr int kChainRounds = 200000;
constexpr int kArithmeticRuns = 3;

// Twelve chains of multiply-adds that do not depend on each other; what they end at keeps them alive.
#define FM_MULTIPLY_ADDS(NAME, TARGET, VECTOR, SET, FMADD)                              \
  __attribute__((target(TARGET))) double NAME(double start) {                           \
    VECTOR chains[kChains];                                                             \
    const VECTOR factor = SET(start);                                                   \
    for (std::size_t i = 0; i < kChains; ++i) chains[i] = SET(start);                   \
    for (int round = 0; round < kChainRounds; ++round) {                                \
      _Pragma("GCC unroll 12") for (std::size_t i = 0; i < kChains; ++i) {              \
        chains[i] = FMADD(chains[i], factor, factor);                                   \
      }                                                                                 \
    }                                                                                   \
    double sum = 0;                                                                     \
    for (std::size_t i = 0; i < kChains; ++i) sum += static_cast<double>(chains[i][0]); \
    return sum;                                                                         \
  }
#define FM_FLOATS_512(value) _mm512_set1_ps(static_cast<float>(value))
#define FM_FLOATS_256(value) _mm256_set1_ps(static_cast<float>(value))
FM_MULTIPLY_ADDS(floats_512, "avx512f", __m512, FM_FLOATS_512, _mm512_fmadd_ps)
FM_MULTIPLY_ADDS(doubles_512, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
FM_MULTIPLY_ADDS(floats_256, "avx2,fma", __m256, FM_FLOATS_256, _mm256_fmadd_ps)
FM_MULTIPLY_ADDS(doubles_256, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd)

struct Width {
  const char* data_type;
  double lanes;
  double (*work)(double start);
  bool is_usable;
};

}  // namespace

std::vector<ArithmeticRate> host_arithmetic() {
  const bool has_512 = __builtin_cpu_supports("avx512f") != 0;
  const bool has_256 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const Width widths[] = {{"float", 16, floats_512, has_512},
                          {"float", 8, floats_256, has_256},
                          {"double", 8, doubles_512, has_512},
                          {"double", 4, doubles_256, has_256}};
  const int threads = usable_cores();
  std::vector<double> ends(static_cast<std::size_t>(threads));
  std::vector<ArithmeticRate> found;
  for (const Width& width : widths) {
    for (int run = 0; width.is_usable && run < kArithmeticRuns; ++run) {
      // Zero stays zero: no overflow, no denormal numbers.
      const double seconds = seconds_together(
          threads, [&](int thread) { ends[static_cast<std::size_t>(thread)] = width.work(0.0); });
      const double rate = 2.0 * width.lanes * kChains * kChainRounds * threads / seconds;
      if (found.empty() || found.back().data_type != width.data_type) found.push_back({width.data_type, 0});
      found.back().flops_per_second = std::max(found.back().flops_per_second, rate);
    }
  }
  return found;
}

#else

std::vector<ArithmeticRate> host_arithmetic() { return {}; }

#endif

}  // namespace fabricmark::calibrate
