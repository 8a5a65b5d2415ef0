// Batches: the single work-item kernel, and the throughput kernels of CPUs and GPUs.
#include "benchmarks/fft/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.hpp"
#include "benchmarks/common/stack.hpp"
#include "benchmarks/fft/tables.hpp"

namespace fabricmark::fft {

namespace {

std::vector<common::Part> divide_batch(const runtime::Context& context, std::size_t batch) {
  std::vector<common::Part> parts = common::divide(batch, 1, context.parameters().count("replications"));
  std::erase_if(parts, [](const common::Part& part) { return part.count == 0; });
  return parts;
}

cl_uint is_inverse(Direction direction) { return direction == Direction::kInverse ? 1 : 0; }

class Base : public Batch {
 public:
  Base(const runtime::Context& context, std::size_t complex_bytes) : Batch(context, complex_bytes, 0) {}

 private:
  void start(Direction direction) override {
    for (std::size_t i = 0; i < parts().size(); ++i) {
      cl::Kernel& kernel = kernels().kernel(static_cast<int>(i));
      kernel.setArg(2, static_cast<cl_uint>(parts()[i].count));
      kernel.setArg(3, is_inverse(direction));
    }
    kernels().run(name(direction), std::vector<device::Geometry>(parts().size()));
  }
};

/// Work-items that share a part of the batch: none is without a transform.
std::size_t items_of(const runtime::Context& context, const common::Part& part) {
  return std::min(cpu_items(context), part.count);
}

/// Bytes of one work-item's scratch memory: its work areas and a transposed transform.
std::size_t item_bytes(const runtime::Context& context, std::size_t complex_bytes) {
  const std::size_t log_size = context.parameters().count("log_size");
  return work_area_bytes(context, steps(log_size).rows) + (complex_bytes << log_size);
}

/// The four-step form for CPUs: work-items share the batch; each has scratch memory of its own.
class FourStep : public Batch {
 public:
  FourStep(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, 0),
        twiddles_(of_type(complex_bytes,
                          [&](auto zero) {
                            return filled_buffer(context, twiddles<decltype(zero)>(steps(log_size()).rows));
                          })),
        between_(of_type(complex_bytes, [&](auto zero) {
          const Steps size = steps(log_size());
          return filled_buffer(context, between_steps<decltype(zero)>(size, 0, size.columns));
        })) {
    for (const common::Part& part : parts()) {
      items_.push_back(items_of(context, part));
      scratch_.push_back(context.buffer(items_.back() * item_bytes(context, complex_bytes)));
    }
  }

 private:
  void start(Direction direction) override {
    std::vector<device::Geometry> geometries;
    for (std::size_t i = 0; i < parts().size(); ++i) {
      cl::Kernel& kernel = kernels().kernel(static_cast<int>(i));
      twiddles_.set_argument(kernel, 2);
      between_.set_argument(kernel, 3);
      scratch_[i].set_argument(kernel, 4);
      kernel.setArg(5, static_cast<cl_uint>(parts()[i].count));
      kernel.setArg(6, is_inverse(direction));
      geometries.push_back({items_[i], 1});
    }
    kernels().run(name(direction), geometries);
  }
  device::Buffer* scratch(std::size_t part) override { return &scratch_[part]; }

  device::Buffer twiddles_;
  device::Buffer between_;
  std::vector<std::size_t> items_;       // [part]
  std::vector<device::Buffer> scratch_;  // [part]
};

/// One start of the kernel for each stage, to and fro between the output and scratch memory.
class Stages : public Batch {
 public:
  Stages(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, 1), twiddles_(of_type(complex_bytes, [&](auto zero) {
          return filled_buffer(context, twiddles<decltype(zero)>(std::size_t{1} << log_size()));
        })) {
    for (std::size_t i = 0; i < parts().size(); ++i) scratch_.push_back(context.buffer(output(i).bytes()));
    for (std::size_t left = log_size(); left > 0; left -= log_radices_.back()) {
      log_radices_.push_back(std::min<std::size_t>(left, 3));
    }
  }

 private:
  void start(Direction direction) override {
    std::size_t log_done = 0;
    const std::size_t stages = log_radices_.size();
    for (std::size_t stage = 0; stage < stages; ++stage) {
      std::vector<device::Geometry> geometries;
      for (std::size_t i = 0; i < parts().size(); ++i) {
        // The last stage writes to the output.
        const bool to_output = (stages - stage) % 2 == 1;
        const device::Buffer& other = to_output ? scratch_[i] : output(i);
        cl::Kernel& kernel = kernels().kernel(static_cast<int>(i));
        (stage == 0 ? input(i) : other).set_argument(kernel, 0);
        (to_output ? output(i) : scratch_[i]).set_argument(kernel, 1);
        twiddles_.set_argument(kernel, 2);
        kernel.setArg(3, static_cast<cl_uint>(log_radices_[stage]));
        kernel.setArg(4, static_cast<cl_uint>(log_done));
        kernel.setArg(5, static_cast<cl_uint>(stage == 0 ? is_inverse(direction) : 0));
        kernel.setArg(6, static_cast<cl_uint>(stage + 1 == stages ? is_inverse(direction) : 0));
        const std::size_t butterflies = parts()[i].count << (log_size() - log_radices_[stage]);
        // A power of two that divides their number.
        geometries.push_back({butterflies, std::min<std::size_t>(butterflies & (~butterflies + 1), 64)});
      }
      kernels().run(name(direction), geometries);
      log_done += log_radices_[stage];
    }
  }
  device::Buffer* scratch(std::size_t part) override { return &scratch_[part]; }

  device::Buffer twiddles_;
  std::vector<device::Buffer> scratch_;  // [part]
  std::vector<std::size_t> log_radices_;
};

}  // namespace

Batch::Batch(const runtime::Context& context, std::size_t complex_bytes, std::size_t entry)
    : log_size_(context.parameters().count("log_size")),
      transform_bytes_(complex_bytes << log_size_),
      parts_(divide_batch(context, context.parameters().count("batch"))),
      kernels_(context.replications(static_cast<int>(parts_.size()), entry)) {
  constexpr int kBanks = 2;  // of a replication: one is read while the other is written
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const int bank = kBanks * static_cast<int>(i);
    input_.push_back(context.buffer(parts_[i].count * transform_bytes_, bank));
    output_.push_back(context.buffer(parts_[i].count * transform_bytes_, bank + 1));
  }
}

void Batch::run(Direction direction) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    input_[i].set_argument(kernels_.kernel(static_cast<int>(i)), 0);
    output_[i].set_argument(kernels_.kernel(static_cast<int>(i)), 1);
  }
  start(direction);
}

void Batch::write(std::vector<device::Buffer>& buffers, const void* points) {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    const auto* const source = static_cast<const std::byte*>(points) + parts_[part].start * transform_bytes_;
    buffers[part].write(kernels_.queue(i), source, buffers[part].bytes());
  });
}

void Batch::poison() {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    output_[part].poison(kernels_.queue(i));
    if (device::Buffer* own = scratch(part)) own->poison(kernels_.queue(i));
  });
}

void Batch::write_input(const void* points) { write(input_, points); }
void Batch::write_output(const void* points) { write(output_, points); }

void Batch::read_output(void* points) {
  kernels_.transfer([&](int i) {
    const auto part = static_cast<std::size_t>(i);
    auto* const destination = static_cast<std::byte*>(points) + parts_[part].start * transform_bytes_;
    output_[part].read(kernels_.queue(i), destination, output_[part].bytes());
  });
}

Scratch batch_scratch(const runtime::Context& context, std::size_t complex_bytes, std::size_t batch) {
  const auto transform = static_cast<double>(complex_bytes << context.parameters().count("log_size"));
  const std::vector<common::Part> parts = divide_batch(context, batch);
  Scratch scratch;
  scratch.largest = static_cast<double>(parts.front().count) * transform;  // input or output
  if (context.variant() == "base") return scratch;
  scratch.bytes = transform;  // tables
  if (!is_four_step(context)) {
    scratch.bytes += static_cast<double>(batch) * transform;
    return scratch;
  }
  for (const common::Part& part : parts) {
    const auto bytes = static_cast<double>(items_of(context, part) * item_bytes(context, complex_bytes));
    scratch.bytes += bytes;
    scratch.largest = std::max(scratch.largest, bytes);
  }
  return scratch;
}

std::unique_ptr<Transform> make_base(const runtime::Context& context, std::size_t complex_bytes) {
  constexpr std::size_t kBuffers = 5;  // of one transform, in local memory: reordering, delays, twiddles
  const std::size_t log_size = context.parameters().count("log_size");
  const device::DeviceInfo& device = context.device().info();
  // An emulator refuses at the start of the kernel only; on boards the compiler has fitted the buffers.
  if (device.emulated() && (kBuffers * complex_bytes << log_size) > device.local_memory_bytes) {
    throw bad_use(
        fmt::format("the base kernel has no room for transforms of 2^{} points on {}", log_size, device.name),
        "use a smaller --log-size or --variant throughput");
  }
  constexpr std::size_t kOnStack = 2;  // transforms in size: delays, and the twiddles of all stages
  common::require_stack(context, kOnStack * complex_bytes << log_size, "log_size");
  return std::make_unique<Base>(context, complex_bytes);
}
std::unique_ptr<Transform> make_four_step(const runtime::Context& context, std::size_t complex_bytes) {
  return std::make_unique<FourStep>(context, complex_bytes);
}
std::unique_ptr<Transform> make_stages(const runtime::Context& context, std::size_t complex_bytes) {
  return std::make_unique<Stages>(context, complex_bytes);
}

}  // namespace fabricmark::fft
