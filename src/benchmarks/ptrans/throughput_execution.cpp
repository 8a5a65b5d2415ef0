// The ND-range kernels: on a CPU a work-item does whole blocks, on a GPU work-groups do tiles of a block.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "benchmarks/ptrans/execution.hpp"

namespace fabricmark::ptrans {

namespace {

constexpr std::size_t kItemBytes = std::size_t{256} << 10U;  // least work that is worth a work-item of a CPU

std::size_t group_items(const runtime::Context& context) {
  const std::size_t items = context.parameters().count("tile_size") * context.parameters().count("tile_rows");
  const device::DeviceInfo& info = context.device().info();
  if (items <= info.max_work_group_size) return items;
  throw bad_use(fmt::format("tile_size times tile_rows makes work-groups of {} work-items, and {} has no "
                            "more than {}",
                            items, info.name, info.max_work_group_size),
                "choose a smaller tile_size or tile_rows");
}

}  // namespace

WorkItems throughput_work_items(const runtime::Context& context, std::size_t block_bytes) {
  if (context.device().info().device_class == device::DeviceClass::kCpu) {
    return {.of_block = 1, .blocks_each = std::max<std::size_t>(1, kItemBytes / block_bytes)};
  }
  const std::size_t tile = context.parameters().count("tile_size");
  const std::size_t tiles = (context.parameters().count("block_size") + tile - 1) / tile;
  const std::size_t group = group_items(context);
  return {.of_block = tiles * tiles * group, .of_group = group};
}

}  // namespace fabricmark::ptrans
