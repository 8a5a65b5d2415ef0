#include "benchmarks/ptrans/transposition.hpp"

#include <algorithm>

#include "benchmarks/common/parts.hpp"

namespace fabricmark::ptrans {

namespace {

// Entry points; the matrices are arguments of the first.
constexpr std::size_t kTranspose = 0;
constexpr std::size_t kPull = 1;

/// Buffers of so many bytes of blocks in turn, where kernel.toml plans them.
std::vector<device::Buffer> parts_of(const runtime::Context& context, const char* argument,
                                     std::size_t blocks, std::size_t block_bytes) {
  const std::vector<runtime::PlannedBuffer> planned = context.memory_plan().of(kTranspose, argument);
  std::vector<device::Buffer> parts;
  for (std::size_t part = 0; part < planned.size(); ++part) {
    const std::size_t own = (blocks + planned.size() - 1 - part) / planned.size();
    parts.push_back(context.buffer(not_empty(own * block_bytes), planned[part].place));
  }
  return parts;
}

}  // namespace

Transposition::Transposition(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                             const WorkItems& work_items, std::size_t slots)
    : work_items_(work_items),
      block_bytes_(block_bytes),
      blocks_(plan.blocks.size()),
      b_(parts_of(context, "b", blocks_, block_bytes)),
      c_(parts_of(context, "c", blocks_, block_bytes)),
      tasks_(context.buffer(not_empty(plan.tasks.size() * sizeof(Task)), {kTranspose, 0, "tasks"})) {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    device::Replications& kernels = kernels_.emplace_back(
        context.replications(static_cast<int>(context.parameters().integer("replications"))));
    for (int i = 0; i < kernels.count(); ++i) {
      const std::size_t part = static_cast<std::size_t>(i) % parts();
      kernels.set(i, {{"b", b_[part]}, {"c", c_[part]}, {"tasks", tasks_}});
    }
  }
  if (!plan.tasks.empty()) {
    const std::vector<Task> tasks = sorted(plan);
    tasks_.write(queue(), tasks.data(), tasks.size() * sizeof(Task));
    queue().finish();
  }
}

std::vector<Task> Transposition::sorted(const Plan& plan) {
  std::vector<Task> tasks = plan.tasks;
  if (parts() == 1) return tasks;
  const auto part_of = [this](const Task& task) { return task.target % parts(); };
  const auto add = [&](std::size_t first, std::size_t count) {
    if (count == 0) return;
    const auto begin = tasks.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    std::ranges::stable_sort(begin, end, {}, part_of);
    Group group;
    for (std::size_t part = 0; part <= parts(); ++part) {
      const auto found = std::ranges::lower_bound(begin, end, part, {}, part_of);
      group.push_back(static_cast<std::size_t>(found - tasks.begin()));
    }
    groups_.push_back(group);
  };
  add(0, plan.staying);
  for (const Round& round : plan.rounds) add(round.first_task, round.tasks);
  for (Task& task : tasks) task.target /= static_cast<std::uint32_t>(parts());
  return tasks;
}

device::Geometry Transposition::geometry(std::size_t tasks) const {
  if (tasks == 0) return {0, 1};
  if (work_items_.of_block == 0) return {1, 1};
  return {(tasks + work_items_.blocks_each - 1) / work_items_.blocks_each * work_items_.of_block,
          work_items_.of_group};
}

void Transposition::start(const std::string& operation, std::size_t slot, const device::Buffer& source,
                          std::size_t first, std::size_t count) {
  if (parts() == 1) return start_group(operation, slot, source, {first, first + count});
  for (const Group& group : groups_) {
    if (group.front() >= first && group.back() <= first + count) start_group(operation, slot, source, group);
  }
}

void Transposition::set_pulls(const runtime::Context& context, const std::vector<Task>& tasks) {
  pull_tasks_ = context.buffer(not_empty(tasks.size() * sizeof(Task)));
  for (std::size_t slot = 0; slot < kernels_.size(); ++slot) {
    pulls_.push_back(context.replications(1, kPull));
    pulls_.back().set(0, {{"b", b_.front()}, {"c", c_.front()}, {"tasks", *pull_tasks_}});
  }
  if (tasks.empty()) return;
  pull_tasks_->write(queue(), tasks.data(), tasks.size() * sizeof(Task));
  queue().finish();
}

void Transposition::start_pull(const std::string& operation, std::size_t slot, const device::Buffer& source,
                               const device::Buffer& theirs, std::size_t first, std::size_t count) {
  pulls_[slot].set(0, {{"a", source}, {"theirs", theirs}, {"first", first}, {"count", count}});
  pulls_[slot].start(operation, {geometry(count)});
}

void Transposition::start_group(const std::string& operation, std::size_t slot, const device::Buffer& source,
                                const Group& group) {
  device::Replications& kernels = kernels_[slot];
  const auto replications = static_cast<std::size_t>(kernels.count());
  std::vector<device::Geometry> geometries(replications);
  for (std::size_t part = 0; part < parts(); ++part) {
    std::size_t replica = part;
    const std::size_t own = (replications + parts() - 1 - part) / parts();
    for (const common::Part& share : common::divide(group[part + 1] - group[part], 1, own)) {
      kernels.set(static_cast<int>(replica),
                  {{"a", source}, {"first", group[part] + share.start}, {"count", share.count}});
      geometries[replica] = geometry(share.count);
      replica += parts();
    }
  }
  kernels.start(operation, geometries);
}

template <typename Copy>
void Transposition::each_piece(Copy copy) const {
  if (parts() == 1 && blocks_ > 0) copy(0, 0, blocks_ * block_bytes_, 0);
  for (std::size_t block = 0; parts() > 1 && block < blocks_; ++block)
    copy(block % parts(), block * block_bytes_, block_bytes_, block / parts() * block_bytes_);
  queue().finish();
}

void Transposition::write(std::vector<device::Buffer>& parts, const void* blocks) {
  const auto* const from = static_cast<const std::byte*>(blocks);
  each_piece([&](std::size_t part, std::size_t start, std::size_t bytes, std::size_t offset) {
    parts[part].write(queue(), from + start, bytes, offset);
  });
}

void Transposition::read_c(void* blocks) {
  auto* const to = static_cast<std::byte*>(blocks);
  each_piece([&](std::size_t part, std::size_t start, std::size_t bytes, std::size_t offset) {
    c_[part].read(queue(), to + start, bytes, offset);
  });
}

}  // namespace fabricmark::ptrans
