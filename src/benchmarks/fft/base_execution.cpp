// The single work-item kernel: each replication transforms its part of the batch.
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/common/stack.hpp"
#include "benchmarks/fft/batch.hpp"
#include "benchmarks/fft/tables.hpp"

namespace fabricmark::fft {

namespace {

class BaseExecution : public Batch {
 public:
  BaseExecution(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, 0), twiddles_(context.buffers(0, "twiddles")) {
    const auto fill = [&](auto zero) {
      const auto table = pipeline_twiddles<decltype(zero)>(std::size_t{1} << log_size());
      for (std::size_t i = 0; i < parts().size(); ++i) {
        const auto replica = static_cast<int>(i);
        twiddles_[i].write(kernels().queue(replica), table.data(), table.size() * sizeof(table[0]));
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

/// Throws Error (bad use) where a transform does not fit into the kernel's local memory.
void require_room(const runtime::Context& context, std::size_t complex_bytes) {
  const std::size_t log_size = context.parameters().count("log_size");
  constexpr std::size_t kLargeLogSize = 10;  // from here on its buffers are of two transforms, not of four
  const std::size_t buffers = log_size < kLargeLogSize ? 9 : 5;  // of one: reordering, delays, twiddles
  const device::DeviceInfo& device = context.device().info();
  // An emulator refuses at the start of the kernel only; for boards the compiler has fitted the buffers.
  const bool has_fitted = !device.emulated() || device.is_emulated_board;
  if (!has_fitted && (buffers * complex_bytes << log_size) > device.local_memory_bytes) {
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
  require_batch(context, type);
  require_room(context, type.bytes);
  return std::make_unique<BaseExecution>(context, type.bytes);
}

}  // namespace fabricmark::fft
