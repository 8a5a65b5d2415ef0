#include "benchmarks/fft/reference.hpp"

#include <fftw3.h>

#include <mutex>

#include "device/memory.hpp"

namespace fabricmark::fft {

namespace {
std::mutex planning;  // FFTW makes plans on one thread at a time, and ranks may be threads
constexpr std::size_t kWorthThreads = std::size_t{1} << 20;  // points
}  // namespace

struct Reference::Plan {
  /// In huge pages where the system has them: the strides of long transforms meet another page each time.
  device::HostArray<std::complex<double>> points;
  fftw_plan plan = nullptr;
};

Reference::Reference(std::size_t points, Direction direction, int threads) : plan_(std::make_unique<Plan>()) {
  const std::scoped_lock lock(planning);
  static const bool has_threads = fftw_init_threads() != 0;
  if (has_threads) fftw_plan_with_nthreads(points < kWorthThreads ? 1 : threads);
  plan_->points = device::HostArray<std::complex<double>>(points);
  auto* const data = reinterpret_cast<fftw_complex*>(plan_->points.data());
  plan_->plan =
      fftw_plan_dft_1d(static_cast<int>(points), data, data,
                       direction == Direction::kForward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
}

Reference::~Reference() {
  const std::scoped_lock lock(planning);
  fftw_destroy_plan(plan_->plan);
}

std::span<std::complex<double>> Reference::points() { return plan_->points.span(); }

std::span<const std::complex<double>> Reference::points() const { return plan_->points.span(); }

void Reference::transform() { fftw_execute(plan_->plan); }

}  // namespace fabricmark::fft
