// The single work-item kernel: each replication transforms its part of the batch.
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/common/stack.hpp"
#include "benchmarks/fft/batch.hpp"

namespace fabricmark::fft {

namespace {

class BaseExecution : public Batch {
 public:
  BaseExecution(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, 0) {}

 private:
  void start(Direction direction) override {
    for (std::size_t i = 0; i < parts().size(); ++i) {
      kernels().set(static_cast<int>(i), {{"batch", parts()[i].count}, {"inverse", is_inverse(direction)}});
    }
    kernels().run(name(direction), std::vector<device::Geometry>(parts().size()));
  }
};

/// Throws Error (bad use) where a transform does not fit into the kernel's local memory.
void require_room(const runtime::Context& context, std::size_t complex_bytes) {
  constexpr std::size_t kBuffers = 5;  // of one transform, in local memory: reordering, delays, twiddles
  const std::size_t log_size = context.parameters().count("log_size");
  const device::DeviceInfo& device = context.device().info();
  // An emulator refuses at the start of the kernel only; on boards the compiler has fitted the buffers.
  if (device.emulated() && (kBuffers * complex_bytes << log_size) > device.local_memory_bytes) {
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
  require_batch(context, type, [](const auto&, auto, const auto&) { return Scratch{}; });
  require_room(context, type.bytes);
  return std::make_unique<BaseExecution>(context, type.bytes);
}

}  // namespace fabricmark::fft
