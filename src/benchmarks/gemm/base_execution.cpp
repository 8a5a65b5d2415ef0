// The single work-item kernel: each replication runs over its own rows of blocks.
#include <fmt/format.h>
#include <pthread.h>

#include "benchmarks/gemm/execution.hpp"
#include "device/error.hpp"

namespace fabricmark::gemm {

namespace {

class BaseExecution : public Execution {
 public:
  BaseExecution(const harness::Context& context, const Shape& shape, const ElementBytes& bytes)
      : Execution(context, shape, bytes) {
    const std::size_t block = shape.row_block;
    for (std::size_t i = 0; i < parts().size(); ++i) {
      set_arguments(i, a(i), b());
      cl::Kernel& kernel = kernels().kernel(static_cast<int>(i));
      kernel.setArg(6, static_cast<cl_uint>(parts()[i].count / block));
      kernel.setArg(7, static_cast<cl_uint>(shape.columns / block));
    }
  }

  void run() override { start(kernels(), std::vector<device::Geometry>(parts().size())); }
};

/// Bytes of the stack that a runtime's threads have by default.
std::size_t thread_stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

/// PoCL keeps the blocks in local memory on the stack of one of its threads, and would overflow it silently.
/// Intel's emulator makes stacks as large as a kernel needs.
void check_stack(const harness::Context& context, std::size_t block, std::size_t value_bytes) {
  const device::DeviceInfo& info = context.device().info();
  if (info.device_class != device::DeviceClass::kCpu) return;
  constexpr std::size_t kBlocks = 3;                          // of A, B and the sums
  constexpr std::size_t kForOthers = std::size_t{512} << 10U;  // what else is on the stack
  const std::size_t bytes = kBlocks * block * block * value_bytes;
  const std::size_t stack = thread_stack_bytes();
  if (bytes + kForOthers <= stack) return;
  throw bad_use(fmt::format("block_size = {} needs {:.3g} MB of stack on {}, whose threads have {:.3g} MB", block,
                            static_cast<double>(bytes + kForOthers) / 1e6, info.name,
                            static_cast<double>(stack) / 1e6),
                "choose a smaller block_size");
}

}  // namespace

Shape base_shape(const harness::Context& context, const ElementBytes& bytes) {
  const std::size_t block = context.parameters().count("block_size");
  check_stack(context, block, bytes.value);
  const std::size_t padded = (context.parameters().count("size") + block - 1) / block * block;
  return {.rows = padded, .columns = padded, .depth = padded, .row_block = block};
}

std::unique_ptr<Execution> make_base(const harness::Context& context, const Shape& shape,
                                     const ElementBytes& bytes) {
  return std::make_unique<BaseExecution>(context, shape, bytes);
}

}  // namespace fabricmark::gemm
