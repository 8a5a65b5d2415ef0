#include "benchmarks/fft/reference.hpp"

#include <fftw3.h>

#include <mutex>

#include "device/memory.hpp"

namespace fabricmark::fft {

namespace {
std::mutex planning;  // FFTW makes plans on one thread at a time, and ranks may be threads
constexpr std::size_t kWorthThreads = std::size_t{1} << 20;  // points
}  // namespace

struct Reference::Plans {
  /// In huge pages where the system has them: the strides of long transforms meet another page each time.
  device::HostArray<std::complex<double>> points;
  int threads = 1;
  fftw_plan forward = nullptr;  // each is made when it is needed first
  fftw_plan inverse = nullptr;
};

Reference::Reference(std::size_t points, int threads) : plans_(std::make_unique<Plans>()) {
  plans_->points = device::HostArray<std::complex<double>>(points);
  plans_->threads = points < kWorthThreads ? 1 : threads;
}

Reference::~Reference() {
  const std::scoped_lock lock(planning);
  fftw_destroy_plan(plans_->forward);
  fftw_destroy_plan(plans_->inverse);
}

std::span<std::complex<double>> Reference::points() { return plans_->points.span(); }

std::span<const std::complex<double>> Reference::points() const { return plans_->points.span(); }

void Reference::transform(Direction direction) {
  const bool is_forward = direction == Direction::kForward;
  fftw_plan& plan = is_forward ? plans_->forward : plans_->inverse;
  if (plan == nullptr) {
    const std::scoped_lock lock(planning);
    static const bool has_threads = fftw_init_threads() != 0;
    if (has_threads) fftw_plan_with_nthreads(plans_->threads);
    auto* const data = reinterpret_cast<fftw_complex*>(plans_->points.data());
    // With FFTW_ESTIMATE the points stay as they are.
    plan = fftw_plan_dft_1d(static_cast<int>(plans_->points.size()), data, data,
                            is_forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
  }
  fftw_execute(plan);
}

std::unique_ptr<Reference> References::take() {
  {
    const std::scoped_lock lock(taking_);
    if (!free_.empty()) {
      std::unique_ptr<Reference> one = std::move(free_.back());
      free_.pop_back();
      return one;
    }
  }
  return std::make_unique<Reference>(points_, threads_.of_each);
}

void References::give(std::unique_ptr<Reference> one) {
  const std::scoped_lock lock(taking_);
  free_.push_back(std::move(one));
}

}  // namespace fabricmark::fft
