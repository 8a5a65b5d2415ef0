#include "benchmarks/fft/batch.hpp"

#include <algorithm>

namespace fabricmark::fft {

namespace {

std::vector<common::Part> divide_batch(const runtime::Context& context, std::size_t batch) {
  std::vector<common::Part> parts = common::divide(batch, 1, context.parameters().count("replications"));
  std::erase_if(parts, [](const common::Part& part) { return part.count == 0; });
  return parts;
}

}  // namespace

Batch::Batch(const runtime::Context& context, std::size_t complex_bytes, std::size_t entry)
    : log_size_(context.parameters().count("log_size")),
      transform_bytes_(complex_bytes << log_size_),
      parts_(divide_batch(context, context.parameters().count("batch"))),
      kernels_(context.replications(static_cast<int>(parts_.size()), entry)),
      input_(context.buffers(entry, "source")),
      output_(context.buffers(entry, "target")),
      margin_bytes_(input_.front().bytes() - bytes(0)) {}

void Batch::run(Direction direction) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    kernels_.set(static_cast<int>(i), {{"source", input_[i]}, {"target", output_[i]}});
  }
  start(direction);
}

void Batch::write(std::vector<device::Buffer>& buffers, std::size_t offset, const void* points) {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    const auto* const source = static_cast<const std::byte*>(points) + parts_[part].start * transform_bytes_;
    buffers[part].write(kernels_.queue(i), source, bytes(part), offset);
  });
}

void Batch::poison() {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    output_[part].poison(kernels_.queue(i));
    if (device::Buffer* own = scratch(part)) own->poison(kernels_.queue(i));
  });
}

void Batch::write_input(const void* points) { write(input_, 0, points); }
void Batch::write_output(const void* points) { write(output_, margin_bytes_, points); }

void Batch::read_output(void* points) {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    auto* const destination = static_cast<std::byte*>(points) + parts_[part].start * transform_bytes_;
    output_[part].read(kernels_.queue(i), destination, bytes(part), margin_bytes_);
  });
}

void require_batch(const runtime::Context& context, const PointType& type) {
  const runtime::MemoryPlan one = context.memory_plan_with("batch", std::int64_t{1});
  context.require_memory({.host_bytes = type.host_bytes(context, 1), .plan = &one}, "log_size");
  context.require_memory({.host_bytes = type.host_bytes(context, context.parameters().count("batch"))},
                         "batch");
}

}  // namespace fabricmark::fft
