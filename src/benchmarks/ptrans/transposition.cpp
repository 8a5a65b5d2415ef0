#include "benchmarks/ptrans/transposition.hpp"

#include "benchmarks/common/parts.hpp"

namespace fabricmark::ptrans {

Transposition::Transposition(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                             const WorkItems& work_items, std::size_t slots)
    : work_items_(work_items),
      bytes_(plan.blocks.size() * block_bytes),
      b_(context.buffer(not_empty(bytes_))),
      c_(context.buffer(not_empty(bytes_))),
      tasks_(context.buffer(not_empty(plan.tasks.size() * sizeof(Task)))) {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    device::Replications& kernels = kernels_.emplace_back(
        context.replications(static_cast<int>(context.parameters().integer("replications"))));
    for (int i = 0; i < kernels.count(); ++i) {
      kernels.set(i, {{"b", b_}, {"c", c_}, {"tasks", tasks_}});
    }
  }
  if (!plan.tasks.empty()) {
    tasks_.write(queue(), plan.tasks.data(), plan.tasks.size() * sizeof(Task));
    queue().finish();
  }
}

device::Geometry Transposition::geometry(std::size_t tasks) const {
  if (tasks == 0) return {0, 1};
  if (work_items_.of_block == 0) return {1, 1};
  return {(tasks + work_items_.blocks_each - 1) / work_items_.blocks_each * work_items_.of_block,
          work_items_.of_group};
}

void Transposition::start(const std::string& operation, std::size_t slot, const device::Buffer& source,
                          std::size_t first, std::size_t count) {
  device::Replications& kernels = kernels_[slot];
  std::vector<device::Geometry> geometries;
  const auto replications = static_cast<std::size_t>(kernels.count());
  for (const common::Part& part : common::divide(count, 1, replications)) {
    kernels.set(static_cast<int>(geometries.size()),
                {{"a", source}, {"first", first + part.start}, {"count", part.count}});
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
