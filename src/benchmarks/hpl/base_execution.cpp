// The single work-item kernels: one each for lu, left and top, and `replications` for the inner blocks.
#include "benchmarks/common/stack.hpp"
#include "benchmarks/hpl/factorization.hpp"

namespace fabricmark::hpl {

namespace {

class BaseFactorization : public Factorization {
 public:
  BaseFactorization(const runtime::Context& context, const Layout& layout, const Packing& packing)
      : Factorization(context, layout, packing, entry::kLu) {}

 protected:
  device::Event start_block(device::Buffer& lower, device::Buffer& upper,
                            const device::Events& after) override {
    lu().set(0, {{"lower", lower}, {"upper", upper}});
    return lu().start("lu", 0, {}, after);
  }
  device::Geometry prepare_left(device::Replications& kernel, std::size_t blocks) override {
    kernel.set(0, {{"blocks", blocks}});
    return {};
  }
  device::Geometry prepare_top(device::Replications& kernel, std::size_t blocks) override {
    return prepare_left(kernel, blocks);
  }
  [[nodiscard]] std::size_t items(const Rectangle& blocks) const override { return blocks.count(); }
  device::Geometry prepare_inner(device::Replications& kernel, int copy, const Rectangle& blocks,
                                 std::size_t first, std::size_t count) override {
    kernel.set(copy, {{"row_begin", blocks.rows.begin},
                      {"column_begin", blocks.columns.begin},
                      {"width", blocks.columns.count()},
                      {"first", first},
                      {"count", count}});
    return {};
  }
};

Packing base_packing(const runtime::Context& context, std::size_t bytes) {
  const std::size_t block = context.parameters().count("block_size");
  constexpr std::size_t kBlocks = 3;  // of the inner kernel: of both panels, and the products
  common::require_stack(context, kBlocks * block * block * bytes, "block_size");
  return {.block = block, .value_bytes = bytes, .panel_value_bytes = bytes, .unit = block * block};
}

}  // namespace

std::unique_ptr<Execution> make_base(const runtime::Context& context, const Layout& layout,
                                     double host_bytes) {
  const Packing packing = base_packing(context, value_bytes(context));
  require_memory(context, host_bytes);
  return std::make_unique<BaseFactorization>(context, layout, packing);
}

}  // namespace fabricmark::hpl
