#include "benchmarks/ptrans/transposition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "benchmarks/common/parts.hpp"
#include "benchmarks/common/stack.hpp"

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

Transposition::Transposition(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                             std::size_t slots)
    : bytes_(plan.blocks.size() * block_bytes),
      b_(context.buffer(not_empty(bytes_))),
      c_(context.buffer(not_empty(bytes_))),
      tasks_(context.buffer(not_empty(plan.tasks.size() * sizeof(Task)))) {
  if (context.variant() == "base") {
    constexpr std::size_t kLocalBlocks = 2;  // of A and the sums
    common::require_stack(context, kLocalBlocks * block_bytes, "block_size");
  } else if (context.device().info().device_class == device::DeviceClass::kCpu) {
    block_items_ = 1;
    blocks_per_item_ = std::max<std::size_t>(1, kItemBytes / block_bytes);
  } else {
    const std::size_t tile = context.parameters().count("tile_size");
    const std::size_t tiles = (context.parameters().count("block_size") + tile - 1) / tile;
    group_items_ = group_items(context);
    block_items_ = tiles * tiles * group_items_;
  }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    device::Replications& kernels = kernels_.emplace_back(
        context.replications(static_cast<int>(context.parameters().integer("replications"))));
    for (int i = 0; i < kernels.count(); ++i) {
      b_.set_argument(kernels.kernel(i), 1);
      c_.set_argument(kernels.kernel(i), 2);
      tasks_.set_argument(kernels.kernel(i), 3);
    }
  }
  if (!plan.tasks.empty()) {
    tasks_.write(queue(), plan.tasks.data(), plan.tasks.size() * sizeof(Task));
    queue().finish();
  }
}

device::Geometry Transposition::geometry(std::size_t tasks) const {
  if (tasks == 0) return {0, 1};
  if (block_items_ == 0) return {1, 1};
  return {(tasks + blocks_per_item_ - 1) / blocks_per_item_ * block_items_, group_items_};
}

void Transposition::start(const std::string& operation, std::size_t slot, const device::Buffer& source,
                          std::size_t first, std::size_t count) {
  device::Replications& kernels = kernels_[slot];
  std::vector<device::Geometry> geometries;
  const auto replications = static_cast<std::size_t>(kernels.count());
  for (const common::Part& part : common::divide(count, 1, replications)) {
    cl::Kernel& kernel = kernels.kernel(static_cast<int>(geometries.size()));
    source.set_argument(kernel, 0);
    kernel.setArg(4, static_cast<cl_uint>(first + part.start));
    kernel.setArg(5, static_cast<cl_uint>(part.count));
    geometries.push_back(geometry(part.count));
  }
  kernels.start(operation, geometries);
}

void Transposition::write(device::Buffer& buffer, const void* blocks) {
  if (bytes_ > 0) buffer.write(queue(), blocks, bytes_);
  queue().finish();
}

void Transposition::read_c(void* blocks) {
  if (bytes_ > 0) c_.read(queue(), blocks, bytes_);
  queue().finish();
}

}  // namespace fabricmark::ptrans
