#include "benchmarks/common/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace fabricmark::common {

std::size_t vector_width(const runtime::Context& context, std::size_t value_bytes) {
  constexpr std::size_t kLongest = 16;  // OpenCL has no longer vectors
  return std::min(kLongest, context.parameters().count("vector_bytes") / value_bytes);
}

void check_group(const runtime::Context& context, std::size_t value_bytes) {
  const runtime::Parameters& parameters = context.parameters();
  const device::DeviceInfo& info = context.device().info();
  const std::size_t side = parameters.count("group_side");
  const std::size_t depth = parameters.count("depth_block");
  if (side * side > info.max_work_group_size) {
    throw bad_use(
        fmt::format("group_side = {} makes work-groups of {} work-items, and {} has no more than {}", side,
                    side * side, info.name, info.max_work_group_size),
        "choose a smaller group_side");
  }
  const std::size_t tiles = parameters.count("tile_rows") + parameters.count("tile_vectors");
  const std::size_t local_bytes = depth * (side * tiles + 1) * value_bytes;
  if (local_bytes > info.local_memory_bytes) {
    throw bad_use(fmt::format("depth_block = {} needs {} bytes of local memory, and {} has {}", depth,
                              local_bytes, info.name, info.local_memory_bytes),
                  "choose a smaller depth_block or smaller tiles");
  }
}

}  // namespace fabricmark::common
