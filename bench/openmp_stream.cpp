// The peer of fm_stream on a CPU: plain OpenMP loops, as in STREAM 5.10, in single precision.
// Usage: bench_openmp_stream ELEMENTS REPETITIONS; prints the best rate of each operation in GB/s as JSON.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

namespace {

constexpr float kScalar = 3;

struct Release {
  void operator()(float* pointer) const { std::free(pointer); }
};
using Array = std::unique_ptr<float, Release>;

Array make_array(long count) {
  constexpr std::size_t kAlignment = 4096;
  const std::size_t bytes =
      (static_cast<std::size_t>(count) * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  return Array(static_cast<float*>(std::aligned_alloc(kAlignment, bytes)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "bench_openmp_stream: error: two arguments are needed; give ELEMENTS REPETITIONS\n");
    return 2;
  }
  const long count = std::atol(argv[1]);
  const int repetitions = std::atoi(argv[2]);
  const Array array_a = make_array(count);
  const Array array_b = make_array(count);
  const Array array_c = make_array(count);
  float* const a = array_a.get();
  float* const b = array_b.get();
  float* const c = array_c.get();
  // Each thread touches first what it works on later, so that its pages are near it.
#pragma omp parallel for
  for (long i = 0; i < count; ++i) {
    a[i] = 1;
    b[i] = 2;
    c[i] = 0;
  }
  struct Operation {
    const char* name;
    int streams;
    std::function<void()> run;
  };
  const std::array<Operation, 4> operations{{
      {"copy", 2,
       [=] {
#pragma omp parallel for
         for (long i = 0; i < count; ++i) c[i] = a[i];
       }},
      {"scale", 2,
       [=] {
#pragma omp parallel for
         for (long i = 0; i < count; ++i) b[i] = kScalar * c[i];
       }},
      {"add", 3,
       [=] {
#pragma omp parallel for
         for (long i = 0; i < count; ++i) c[i] = a[i] + b[i];
       }},
      {"triad", 3,
       [=] {
#pragma omp parallel for
         for (long i = 0; i < count; ++i) a[i] = b[i] + kScalar * c[i];
       }},
  }};
  std::array<double, 4> best{};
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const double start = omp_get_wtime();
      operations[i].run();
      const double seconds = omp_get_wtime() - start;
      const double bytes =
          static_cast<double>(operations[i].streams) * sizeof(float) * static_cast<double>(count);
      best[i] = std::max(best[i], bytes / seconds / 1e9);
    }
  }
  std::printf("{\"threads\": %d", omp_get_max_threads());
  for (std::size_t i = 0; i < operations.size(); ++i)
    std::printf(", \"%s\": %.6g", operations[i].name, best[i]);
  std::printf("}\n");
  return 0;
}
