#include "benchmarks/stream/execution.hpp"

namespace fabricmark::stream {

namespace {

std::vector<Part> checked_parts(const runtime::Context& context, std::size_t block_elements,
                                std::size_t element_bytes) {
  const std::vector<Part> parts =
      divide(context.parameters().count("size"), block_elements, context.parameters().count("replications"));
  const auto array_bytes = static_cast<double>((parts.back().start + parts.back().count) * element_bytes);
  context.require_memory({.host_bytes = kArrays * array_bytes}, "size");
  return parts;
}

}  // namespace

Execution::Execution(const runtime::Context& context, std::size_t block_elements, std::size_t element_bytes)
    : element_bytes_(element_bytes),
      parts_(checked_parts(context, block_elements, element_bytes)),
      kernels_(context.replications(static_cast<int>(parts_.size()))) {
  const auto first = context.memory_plan().of(0, "first");
  const auto second = context.memory_plan().of(0, "second");
  const auto result = context.memory_plan().of(0, "result");
  for (std::size_t i = 0; i < first.size(); ++i)
    buffers_.push_back({context.buffer(first[i]), context.buffer(second[i]), context.buffer(result[i])});
}

void Execution::run(const Operation& operation) {
  std::vector<device::Geometry> geometries(parts_.size(), {0, 0});
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    kernels_.set(static_cast<int>(i), {{"first", buffers_[i][operation.first]},
                                       {"second", buffers_[i][operation.second]},
                                       {"result", buffers_[i][operation.result]},
                                       {"scalar", operation.scalar},
                                       {"pieces", units(parts_[i])},
                                       {"use_second", operation.uses_second ? 1U : 0U}});
    geometries[i] = geometry(parts_[i]);
  }
  kernels_.run(operation.name, geometries);
}

void Execution::write(Array array, const void* source) {
  const auto* bytes = static_cast<const std::byte*>(source);
  kernels_.transfer([&](int i) {
    const auto index = static_cast<std::size_t>(i);
    if (index >= buffers_.size()) return;
    const Part& part = parts_[index];
    buffers_[index][array].write(kernels_.queue(i), bytes + part.start * element_bytes_,
                                 part.count * element_bytes_);
  });
}

void Execution::read(Array array, void* destination) {
  auto* bytes = static_cast<std::byte*>(destination);
  kernels_.transfer([&](int i) {
    const auto index = static_cast<std::size_t>(i);
    if (index >= buffers_.size()) return;
    const Part& part = parts_[index];
    buffers_[index][array].read(kernels_.queue(i), bytes + part.start * element_bytes_,
                                part.count * element_bytes_);
  });
}

void Execution::poison(Array array) {
  constexpr std::byte kAllBits{0xFF};  // a NaN in every type
  kernels_.transfer([&](int i) {
    const auto index = static_cast<std::size_t>(i);
    if (index < buffers_.size()) buffers_[index][array].fill(kernels_.queue(i), kAllBits);
  });
}

std::size_t Execution::padded_elements() const { return parts_.back().start + parts_.back().count; }

}  // namespace fabricmark::stream
