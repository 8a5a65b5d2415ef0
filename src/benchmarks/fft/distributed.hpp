#pragma once

#include <memory>

#include "benchmarks/fft/batch.hpp"
#include "benchmarks/fft/tables.hpp"
#include "board/board_transport.hpp"

namespace fabricmark::fft {

/// One vector over all ranks. As a matrix of rows x columns points, its rows are divided over the ranks;
/// three exchanges of all with all transpose it: to columns, to rows of the transformed columns, and to
/// natural order. What the device does between them is of the kernels.
class Distributed : public Execution {
 public:
  void write_input(const void* points) override;
  void write_output(const void* points) override;
  void read_output(void* points) override;
  void poison() override;
  void run(Direction direction) override;
  // Twice such an exchange gives what was before it: there and, untimed, back.
  void time_exchange(runtime::TimedRegions& regions) override;

 protected:
  /// The part of the matrix that a rank has in each step.
  struct Local {
    std::size_t rows = 0;
    std::size_t columns = 0;
  };
  static Local local_part(const runtime::Context& context);

  /// Input and output are `source` and `target` of the entry point; `first` is the kernel that is first.
  Distributed(const runtime::Context& context, std::size_t complex_bytes, std::size_t entry,
              std::size_t first);

  /// From the input to what is sent: for each rank its columns of this rank's rows.
  virtual void spread(Direction direction) = 0;
  /// What has arrived, row by row, is transformed column by column, turned, and sorted by the ranks that get
  /// it: for each its rows of this rank's columns, one column behind the other.
  virtual void transform_columns(Direction direction) = 0;
  /// What has arrived, column by column, is transformed row by row, and stays so.
  virtual void transform_rows(Direction direction) = 0;
  /// What the third exchange has brought, into natural order.
  virtual void order(Direction direction) = 0;

  [[nodiscard]] runtime::Communicator& ranks() const { return ranks_; }
  [[nodiscard]] const Steps& size() const { return size_; }
  [[nodiscard]] const Local& local() const { return local_; }
  [[nodiscard]] std::size_t ranks_count() const { return static_cast<std::size_t>(ranks_.size()); }
  [[nodiscard]] device::Replications& first_kernel() { return first_kernel_; }
  [[nodiscard]] device::Buffer& input() { return input_; }
  [[nodiscard]] device::Buffer& output() { return output_; }
  [[nodiscard]] device::Buffer& outgoing() { return outgoing_.device(); }
  [[nodiscard]] device::Buffer& incoming() { return incoming_.device(); }

 private:
  /// Memory that is poisoned with output, outgoing and incoming.
  [[nodiscard]] virtual device::Buffer* scratch() { return nullptr; }
  void exchange(transport::Memory& from, transport::Memory& to) {
    transport_->all_to_all({&from, 0, bytes_}, {&to, 0, bytes_}).wait();
  }
  void poison_one(device::Buffer& buffer);

  runtime::Communicator& ranks_;
  Steps size_;
  Local local_;
  std::size_t bytes_;
  transport::Memory outgoing_, incoming_;
  std::unique_ptr<transport::Transport> transport_;
  device::Replications first_kernel_;
  device::Buffer input_, output_;
};

/// By the kernels of GPUs (--form stages); the number of ranks is a power of two.
std::unique_ptr<Execution> make_distributed_stages(const runtime::Context& context, const PointType& type);

}  // namespace fabricmark::fft
