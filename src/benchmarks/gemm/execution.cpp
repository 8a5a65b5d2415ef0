#include "benchmarks/gemm/execution.hpp"

#include <algorithm>

#include "benchmarks/gemm/product.hpp"

namespace fabricmark::gemm {

namespace {

/// The parts with rows in them; late ones may be empty.
std::vector<common::Part> divide_rows(const runtime::Context& context, const Shape& shape) {
  std::vector<common::Part> parts =
      common::divide(shape.rows, shape.row_block, context.parameters().count("replications"));
  std::erase_if(parts, [](const common::Part& part) { return part.count == 0; });
  return parts;
}

}  // namespace

void require_memory(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes) {
  const auto bytes_of = [](std::size_t elements, std::size_t size) {
    return static_cast<double>(elements) * static_cast<double>(size);
  };
  const double inputs = bytes_of(shape.a_elements() + shape.b_elements(), bytes.input);
  const double values = bytes_of(2 * shape.c_elements(), bytes.value);
  const auto threads = static_cast<std::size_t>(runtime::host_threads(context.ranks()));
  const double check = bytes_of((kCheckedRows + threads * kCheckedColumns) * shape.depth, sizeof(double));
  const double faults = context.fault() ? values : 0;
  context.require_memory({.host_bytes = inputs + values + check + faults}, "size", 2);
}

// The entry point whose arguments the matrices are.
constexpr std::size_t kMultiply = 0;

Execution::Execution(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes)
    : shape_(shape),
      bytes_(bytes),
      alpha_(context.parameters().number("alpha")),
      beta_(context.parameters().number("beta")),
      parts_(divide_rows(context, shape)),
      kernels_(context.replications(static_cast<int>(parts_.size()))),
      b_(context.buffers(kMultiply, "b")),
      a_(context.buffers(kMultiply, "a")),
      c_(context.buffers(kMultiply, "c")),
      result_(context.buffers(kMultiply, "result")) {}

void Execution::set_arguments(std::size_t part, const device::Buffer& a, const device::Buffer& b) {
  kernels_.set(
      static_cast<int>(part),
      {{"a", a}, {"b", b}, {"c", c_[part]}, {"result", result_[part]}, {"alpha", alpha_}, {"beta", beta_}});
}

void Execution::start(device::Replications& kernels, const std::vector<device::Geometry>& geometries) {
  kernels.run("gemm", geometries);
}

void Execution::poison() {
  kernels_.transfer([&](int i) { result_[static_cast<std::size_t>(i)].poison(kernels_.queue(i)); });
}

void Execution::write_inputs(const void* a, const void* b, const void* c) {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    const std::size_t start = parts_[part].start;
    const device::Queue& queue = kernels_.queue(i);
    a_[part].write(queue, static_cast<const std::byte*>(a) + start * shape_.depth * bytes_.input,
                   a_[part].bytes());
    if (part < b_.size()) b_[part].write(queue, b, b_[part].bytes());
    c_[part].write(queue, static_cast<const std::byte*>(c) + start * shape_.columns * bytes_.value,
                   c_[part].bytes());
  });
}

void Execution::write_result(const void* result) {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    const std::size_t start = parts_[part].start * shape_.columns * bytes_.value;
    result_[part].write(kernels_.queue(i), static_cast<const std::byte*>(result) + start,
                        result_[part].bytes());
  });
}

void Execution::read_result(void* result) {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    const std::size_t start = parts_[part].start * shape_.columns * bytes_.value;
    result_[part].read(kernels_.queue(i), static_cast<std::byte*>(result) + start, result_[part].bytes());
  });
}

}  // namespace fabricmark::gemm
