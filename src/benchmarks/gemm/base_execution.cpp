// The single work-item kernel: each replication runs over its own rows of blocks.
#include <fmt/format.h>

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

/// On a processor the blocks in local memory are variables on the stack of one of the runtime's threads.
void check_stack(const harness::Context& context, std::size_t block, std::size_t value_bytes) {
  const device::DeviceInfo& info = context.device().info();
  if (info.device_class != device::DeviceClass::kCpu && !info.emulated()) return;
  constexpr std::size_t kBlocks = 3;  // of A, B and the sums
  constexpr std::size_t kMostBytes = std::size_t{2} << 20U;
  const std::size_t bytes = kBlocks * block * block * value_bytes;
  if (bytes <= kMostBytes) return;
  throw bad_use(fmt::format("block_size = {} needs {:.3g} MB of the stack of {}, where {:.3g} MB are safe", block,
                            static_cast<double>(bytes) / 1e6, info.name, static_cast<double>(kMostBytes) / 1e6),
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
