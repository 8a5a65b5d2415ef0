// The peer of fm_fft on a CPU: FFTW's measured plans for a batch of complex transforms in single precision,
// on two threads, each with half of the batch. Usage: bench_fftw LOG_SIZE BATCH REPETITIONS; prints the best
// rates in GFLOP/s (5 n log2 n operations a transform) as JSON.
#include <fftw3.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "best_rate.hpp"

namespace {

constexpr int kThreads = 2;

/// A part of the batch: its own arrays, first touched by the caller's thread, and plans.
struct Part {
  Part(int n, int batch)
      : in(fftwf_alloc_complex(count(n, batch))), out(fftwf_alloc_complex(count(n, batch))) {
    for (const int sign : {FFTW_FORWARD, FFTW_BACKWARD}) {
      plans[sign == FFTW_FORWARD ? 0 : 1] =
          fftwf_plan_many_dft(1, &n, batch, in, nullptr, 1, n, out, nullptr, 1, n, sign, FFTW_MEASURE);
    }
    for (std::size_t i = 0; i < count(n, batch); ++i) {
      in[i][0] = static_cast<float>(i % 97) / 97;
      in[i][1] = static_cast<float>(i % 89) / 89;
    }
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    for (const fftwf_plan plan : plans) fftwf_destroy_plan(plan);
    fftwf_free(in);
    fftwf_free(out);
  }
  static std::size_t count(int n, int batch) {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(batch);
  }

  fftwf_complex* in;
  fftwf_complex* out;
  fftwf_plan plans[2] = {};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[2]) < kThreads) {
    std::fprintf(stderr,
                 "bench_fftw: error: a size and a batch of two or more are needed; give LOG_SIZE BATCH "
                 "REPETITIONS\n");
    return 2;
  }
  const int log_size = std::atoi(argv[1]);
  const int batch = std::atoi(argv[2]);
  const int repetitions = std::atoi(argv[3]);
  const int n = 1 << log_size;
  Part first(n, batch / kThreads);
  Part second(n, batch - batch / kThreads);
  const double work = 5.0 * n * log_size * batch;
  double rates[2];
  for (int direction = 0; direction < 2; ++direction) {
    rates[direction] = best_rate(repetitions, work, [&] {
      std::thread other([&] { fftwf_execute(second.plans[direction]); });
      fftwf_execute(first.plans[direction]);
      other.join();
    });
  }
  std::printf("{\"forward\": %.6g, \"inverse\": %.6g}\n", rates[0] / 1e9, rates[1] / 1e9);
  return 0;
}
