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

/// No more than there are parts of the other matrices.
std::size_t copies_of_b(const runtime::Context& context, std::size_t parts) {
  return std::min(context.parameters().count("b_copies"), parts);
}

}  // namespace

void require_memory(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes,
                    std::size_t packed_elements) {
  const auto bytes_of = [](std::size_t elements, std::size_t size) {
    return static_cast<double>(elements) * static_cast<double>(size);
  };
  const double inputs = bytes_of(shape.a_elements() + shape.b_elements(), bytes.input);
  const std::size_t more = copies_of_b(context, divide_rows(context, shape).size()) - 1;
  const double copies = bytes_of(more * shape.b_elements(), bytes.input);
  const double values = bytes_of(2 * shape.c_elements(), bytes.value);
  const double packed = bytes_of(packed_elements, bytes.value);
  const auto threads = static_cast<std::size_t>(runtime::host_threads(context.ranks()));
  const double check = bytes_of((kCheckedRows + threads * kCheckedColumns) * shape.depth, sizeof(double));
  const double faults = context.conditions().fault ? values : 0;
  const std::size_t largest = std::max({shape.a_elements(), shape.b_elements(), shape.c_elements()});
  context.require_memory({.host_bytes = inputs + values + check + faults,
                          .device_bytes = inputs + copies + values + packed,
                          .largest_buffer_bytes = bytes_of(largest, bytes.value)},
                         "size", 2);
}

// The entry point whose arguments the matrices are.
constexpr std::size_t kMultiply = 0;

Execution::Execution(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes)
    : shape_(shape),
      bytes_(bytes),
      alpha_(context.parameters().number("alpha")),
      beta_(context.parameters().number("beta")),
      parts_(divide_rows(context, shape)),
      kernels_(context.replications(static_cast<int>(parts_.size()))) {
  const auto copies = static_cast<int>(copies_of_b(context, parts_.size()));
  for (int copy = 0; copy < copies; ++copy)
    b_.push_back(context.buffer(shape.b_elements() * bytes.input, {kMultiply, copy, "b", copy}));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto replica = static_cast<int>(i);
    const std::size_t rows = parts_[i].count;
    a_.push_back(context.buffer(rows * shape.depth * bytes.input, {kMultiply, replica, "a"}));
    c_.push_back(context.buffer(rows * shape.columns * bytes.value, {kMultiply, replica, "c"}));
    result_.push_back(context.buffer(rows * shape.columns * bytes.value, {kMultiply, replica, "result"}));
  }
}

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
