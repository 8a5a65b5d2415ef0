#include "benchmarks/fft/reference.hpp"

#include <fftw3.h>

#include <mutex>
#include <new>

namespace fabricmark::fft {

namespace {
std::mutex planning;  // FFTW makes plans on one thread at a time, and ranks may be threads
constexpr std::size_t kWorthThreads = std::size_t{1} << 20;  // points
}  // namespace

struct Reference::Plan {
  std::size_t size = 0;
  fftw_complex* data = nullptr;
  fftw_plan plan = nullptr;
};

Reference::Reference(std::size_t points, Direction direction, int threads) : plan_(std::make_unique<Plan>()) {
  const std::scoped_lock lock(planning);
  static const bool has_threads = fftw_init_threads() != 0;
  if (has_threads) fftw_plan_with_nthreads(points < kWorthThreads ? 1 : threads);
  plan_->size = points;
  plan_->data = fftw_alloc_complex(points);
  if (plan_->data == nullptr) throw std::bad_alloc();
  plan_->plan =
      fftw_plan_dft_1d(static_cast<int>(points), plan_->data, plan_->data,
                       direction == Direction::kForward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
}

Reference::~Reference() {
  const std::scoped_lock lock(planning);
  fftw_destroy_plan(plan_->plan);
  fftw_free(plan_->data);
}

std::span<std::complex<double>> Reference::points() {
  return {reinterpret_cast<std::complex<double>*>(plan_->data), plan_->size};
}

void Reference::transform() { fftw_execute(plan_->plan); }

}  // namespace fabricmark::fft
