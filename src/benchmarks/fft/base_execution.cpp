// The single work-item kernel: each replication transforms its part of the batch.
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/common/stack.hpp"
#include "benchmarks/fft/batch.hpp"
#include "benchmarks/fft/tables.hpp"

namespace fabricmark::fft {

namespace {

/// Transforms that the kernel reads behind its input and writes before its output: FFT_MARGIN in base.cl.
std::size_t margin(const runtime::Context& context) {
  constexpr std::size_t kLargeLogSize = 10;  // from here on its buffers are of two transforms, not of four
  return context.parameters().count("log_size") < kLargeLogSize ? 5 : 3;
}

/// Bytes of a replication's twiddles: for each eight points the factors of six lanes.
std::size_t twiddle_bytes(const runtime::Context& context, std::size_t complex_bytes) {
  return 6 * complex_bytes << context.parameters().count("log_size") >> 3U;
}

class BaseExecution : public Batch {
 public:
  BaseExecution(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, 0, margin(context)) {
    const auto fill = [&](auto zero) {
      const auto table = pipeline_twiddles<decltype(zero)>(std::size_t{1} << log_size());
      for (std::size_t i = 0; i < parts().size(); ++i) {
        const auto replica = static_cast<int>(i);
        twiddles_.push_back(context.buffer(twiddle_bytes(context, complex_bytes), {0, replica, "twiddles"}));
        twiddles_.back().write(kernels().queue(replica), table.data(), twiddles_.back().bytes());
        kernels().queue(replica).finish();
      }
    };
    complex_bytes == 2 * sizeof(double) ? fill(double()) : fill(float());
  }

 private:
  void start(Direction direction) override {
    for (std::size_t i = 0; i < parts().size(); ++i) {
      kernels().set(
          static_cast<int>(i),
          {{"twiddles", twiddles_[i]}, {"batch", parts()[i].count}, {"inverse", is_inverse(direction)}});
    }
    kernels().run(name(direction), std::vector<device::Geometry>(parts().size()));
  }

  std::vector<device::Buffer> twiddles_;  // [part], each where its kernel's input is
};

Scratch base_scratch(const runtime::Context& context, std::size_t complex_bytes,
                     const std::vector<common::Part>& parts) {
  const auto bytes = static_cast<double>(twiddle_bytes(context, complex_bytes));
  return {.bytes = static_cast<double>(parts.size()) * bytes, .largest = bytes};
}

/// Throws Error (bad use) where a transform does not fit into the kernel's local memory.
void require_room(const runtime::Context& context, std::size_t complex_bytes) {
  const std::size_t buffers = 2 * margin(context) - 1;  // of one transform: reordering, delays, twiddles
  const std::size_t log_size = context.parameters().count("log_size");
  const device::DeviceInfo& device = context.device().info();
  // An emulator refuses at the start of the kernel only; on boards the compiler has fitted the buffers.
  if (device.emulated() && (buffers * complex_bytes << log_size) > device.local_memory_bytes) {
    throw bad_use(
        fmt::format("the base kernel has no room for transforms of 2^{} points on {}", log_size, device.name),
        "use a smaller --log-size or --variant throughput");
  }
  constexpr std::size_t kOnStack = 2;  // transforms in size: delays, and the twiddles of all stages
  common::require_stack(context, kOnStack * complex_bytes << log_size, "log_size");
}

}  // namespace

std::unique_ptr<Execution> make_base(const runtime::Context& context, const PointType& type) {
  if (is_distributed(context)) throw not_distributed();
  require_batch(context, type, base_scratch, margin(context));
  require_room(context, type.bytes);
  return std::make_unique<BaseExecution>(context, type.bytes);
}

}  // namespace fabricmark::fft
