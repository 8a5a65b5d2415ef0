// The ND-range kernels: on a CPU a work-item does whole blocks, on a GPU work-groups do tiles of a block.
#include <algorithm>

#include "benchmarks/ptrans/execution.hpp"

namespace fabricmark::ptrans {

namespace {

constexpr std::size_t kItemBytes = std::size_t{256} << 10U;  // least work that is worth a work-item of a CPU

}  // namespace

WorkItems throughput_work_items(const runtime::Context& context, std::size_t block_bytes) {
  if (context.device().info().device_class == device::DeviceClass::kCpu) {
    return {.of_block = 1, .blocks_each = std::max<std::size_t>(1, kItemBytes / block_bytes)};
  }
  const std::size_t tile = context.parameters().count("tile_size");
  const std::size_t tiles = (context.parameters().count("block_size") + tile - 1) / tile;
  const std::size_t group = tile * context.parameters().count("tile_rows");
  return {.of_block = tiles * tiles * group, .of_group = group};
}

}  // namespace fabricmark::ptrans
