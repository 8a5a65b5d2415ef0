// The single work-item kernel: each replication runs over its own rows of blocks.
#include "benchmarks/common/stack.hpp"
#include "benchmarks/gemm/execution.hpp"

namespace fabricmark::gemm {

namespace {

class BaseExecution : public Execution {
 public:
  BaseExecution(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes)
      : Execution(context, shape, bytes) {
    const std::size_t block = shape.row_block;
    for (std::size_t i = 0; i < parts().size(); ++i) {
      set_arguments(i, a(i), b(i));
      kernels().set(static_cast<int>(i),
                    {{"block_rows", parts()[i].count / block}, {"blocks", shape.columns / block}});
    }
  }

  void run() override { start(kernels(), std::vector<device::Geometry>(parts().size())); }
};

Shape base_shape(const runtime::Context& context, const ElementBytes& bytes) {
  const std::size_t block = context.parameters().count("block_size");
  constexpr std::size_t kLocalBlocks = 3;  // of A, B and the sums
  common::require_stack(context, kLocalBlocks * block * block * bytes.value, "block_size");
  const std::size_t padded = (context.parameters().count("size") + block - 1) / block * block;
  return {.rows = padded, .columns = padded, .depth = padded, .row_block = block};
}

}  // namespace

std::unique_ptr<Execution> make_base(const runtime::Context& context, const ElementBytes& bytes) {
  const Shape shape = base_shape(context, bytes);
  require_memory(context, shape, bytes);
  return std::make_unique<BaseExecution>(context, shape, bytes);
}

}  // namespace fabricmark::gemm
