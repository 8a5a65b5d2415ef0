// The peer of fm_gemm on a CPU: cblas_sgemm or cblas_dgemm of OpenBLAS on as many threads as
// OPENBLAS_NUM_THREADS says. Usage: bench_openblas_gemm N float|double REPETITIONS; prints the best rate in
// GFLOP/s as JSON.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/common/blas_core.hpp"
#include "best_rate.hpp"

namespace {

void multiply(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, alpha, a, n, b, n, beta, c, n);
}
void multiply(int n, double alpha, const double* a, const double* b, double beta, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, alpha, a, n, b, n, beta, c, n);
}

template <typename T>
double gflop_per_s(int n, int repetitions) {
  const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<T> a(count);
  std::vector<T> b(count);
  std::vector<T> c(count);
  std::mt19937 random(1);
  std::uniform_real_distribution<T> values(-1, 1);
  for (std::vector<T>* matrix : {&a, &b, &c}) {
    for (T& value : *matrix) value = values(random);
  }
  const double work = 2.0 * n * n * n;
  // beta = 1/2 keeps C from growing.
  return best_rate(repetitions, work, [&] { multiply(n, T{0.5}, a.data(), b.data(), T{0.5}, c.data()); }) /
         1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string type = argc == 4 ? argv[2] : "";
  if (type != "float" && type != "double") {
    std::fprintf(stderr,
                 "bench_openblas_gemm: error: three arguments are needed; give N float|double REPETITIONS\n");
    return 2;
  }
  const int n = std::atoi(argv[1]);
  const int repetitions = std::atoi(argv[3]);
  const double rate =
      type == "float" ? gflop_per_s<float>(n, repetitions) : gflop_per_s<double>(n, repetitions);
  std::printf("{\"core\": \"%s\", \"threads\": %d, \"gemm\": %.6g}\n", openblas_get_corename(),
              openblas_get_num_threads(), rate);
  return 0;
}
