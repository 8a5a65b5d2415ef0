#pragma once

#include <vector>

#include "benchmarks/common/parts.hpp"
#include "benchmarks/fft/execution.hpp"

namespace fabricmark::fft {

/// A batch of transforms, divided over the replications of a kernel.
class Batch : public Execution {
 public:
  void write_input(const void* points) override;
  void write_output(const void* points) override;
  void read_output(void* points) override;
  void run(Direction direction) override;
  void poison() override;

 protected:
  /// The kernel of the variant's entry point number `entry`. Where its buffers are longer than its part of
  /// the batch, it may read behind its input and write before its output.
  Batch(const runtime::Context& context, std::size_t complex_bytes, std::size_t entry);

  /// Sets the arguments behind input and output, and starts the kernels on all parts.
  virtual void start(Direction direction) = 0;
  /// Scratch memory of a part, null where there is none.
  [[nodiscard]] virtual device::Buffer* scratch(std::size_t /*part*/) { return nullptr; }

  [[nodiscard]] device::Replications& kernels() { return kernels_; }
  /// Transforms of each replication that has any.
  [[nodiscard]] const std::vector<common::Part>& parts() const { return parts_; }
  [[nodiscard]] const device::Buffer& input(std::size_t part) const { return input_[part]; }
  [[nodiscard]] const device::Buffer& output(std::size_t part) const { return output_[part]; }
  [[nodiscard]] std::size_t log_size() const { return log_size_; }

 private:
  void write(std::vector<device::Buffer>& buffers, std::size_t offset, const void* points);
  [[nodiscard]] std::size_t bytes(std::size_t part) const { return parts_[part].count * transform_bytes_; }

  std::size_t log_size_;
  std::size_t transform_bytes_;
  std::vector<common::Part> parts_;
  device::Replications kernels_;
  std::vector<device::Buffer> input_, output_;  // [part]
  std::size_t margin_bytes_;
};

/// Throws Error (bad use) where there is not the memory for a batch; where it is too little even for one
/// transform, the message tells to make that smaller.
void require_batch(const runtime::Context& context, const PointType& type);

/// As the kernels take it.
inline std::uint32_t is_inverse(Direction direction) { return direction == Direction::kInverse ? 1 : 0; }

/// The buffer of an argument, as kernel.toml plans it, that holds these numbers.
template <typename T>
device::Buffer filled_buffer(const runtime::Context& context, std::size_t entry, const char* argument,
                             const device::HostArray<T>& numbers) {
  device::Buffer buffer = std::move(context.buffers(entry, argument).front());
  const device::Queue queue = context.device().queue();
  buffer.write(queue, numbers.data(), numbers.size() * sizeof(T));
  queue.finish();
  return buffer;
}

/// Calls `make(float())` or `make(double())` as the points of `complex_bytes` need it.
template <typename Make>
device::Buffer of_type(std::size_t complex_bytes, Make&& make) {
  if (complex_bytes == 2 * sizeof(double)) return make(double());
  return make(float());
}

/// Work-items that share a CPU's work: one for each core of the device.
inline std::size_t cpu_items(const runtime::Context& context) {
  return std::max<std::size_t>(context.device().info().compute_units, 1);
}

}  // namespace fabricmark::fft
