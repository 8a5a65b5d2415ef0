// The throughput kernels of a CPU, on a batch.
#include <algorithm>

#include "base/error.hpp"
#include "benchmarks/fft/batch.hpp"
#include "benchmarks/fft/tables.hpp"

namespace fabricmark::fft {

namespace {

/// Work-items that share a part of the batch: none is without a transform.
std::size_t items_of(const runtime::Context& context, const common::Part& part) {
  return std::min(cpu_items(context), part.count);
}

// The entry point.
constexpr std::size_t kFft = 0;

/// The four-step form for CPUs: work-items share the batch; each has scratch memory of its own.
class FourStepExecution : public Batch {
 public:
  FourStepExecution(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, kFft),
        twiddles_(of_type(complex_bytes,
                          [&](auto zero) {
                            return filled_buffer(context, kFft, "twiddles",
                                                 twiddles<decltype(zero)>(steps(log_size()).rows));
                          })),
        between_(of_type(complex_bytes,
                         [&](auto zero) {
                           const Steps size = steps(log_size());
                           const int threads = runtime::host_threads(context.ranks());
                           return filled_buffer(
                               context, kFft, "between_all",
                               between_steps<decltype(zero)>(size, 0, size.columns, threads));
                         })),
        scratch_(context.buffers(kFft, "scratch")) {
    for (const common::Part& part : parts()) items_.push_back(items_of(context, part));
  }

 private:
  void start(Direction direction) override {
    std::vector<device::Geometry> geometries;
    for (std::size_t i = 0; i < parts().size(); ++i) {
      kernels().set(static_cast<int>(i), {{"twiddles", twiddles_},
                                          {"between_all", between_},
                                          {"scratch", scratch_[i]},
                                          {"batch", parts()[i].count},
                                          {"inverse", is_inverse(direction)}});
      geometries.push_back({items_[i], 1});
    }
    kernels().run(name(direction), geometries);
  }
  device::Buffer* scratch(std::size_t part) override { return &scratch_[part]; }

  device::Buffer twiddles_;
  device::Buffer between_;
  std::vector<std::size_t> items_;       // [part]
  std::vector<device::Buffer> scratch_;  // [part]
};

}  // namespace

std::unique_ptr<Execution> make_four_step(const runtime::Context& context, const PointType& type) {
  require_batch(context, type);
  if (context.device().info().device_class != device::DeviceClass::kCpu) {
    throw bad_use("form = four-step is for CPUs only", "use --form stages");
  }
  return std::make_unique<FourStepExecution>(context, type.bytes);
}

}  // namespace fabricmark::fft
