#pragma once

#include "benchmarks/ptrans/execution.hpp"
#include "transport/transport.hpp"

namespace fabricmark::ptrans {

/// Blocks come in rounds over a transport; those that stay are transposed during the first ones, those of
/// each round during the next.
class StagedExecution : public SteppedExecution {
 public:
  void write_b(std::span<const std::byte> blocks) override { transposition_.write_b(blocks.data()); }
  void write_c(std::span<const std::byte> blocks) override { transposition_.write_c(blocks.data()); }
  void read_c(std::span<std::byte> blocks) override { transposition_.read_c(blocks.data()); }
  void time_run(runtime::TimedRegions& regions) override {
    regions.time("transpose", [this] { run(); });
  }
  void exchange() override;
  void transpose() override;

 protected:
  StagedExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                  const WorkItems& work_items);

  /// Brings the blocks that stay to the device, and those of a round from the other ranks.
  virtual void deliver_staying() = 0;
  virtual void deliver(const Round& round) = 0;
  /// What of `deliver` can begin before the kernels of the round before are started.
  virtual void begin_to_deliver(const Round& /*round*/) {}
  /// Where the kernels find them: the blocks of A by their places in it, and the arrived ones.
  [[nodiscard]] virtual const device::Buffer& staying() const = 0;
  [[nodiscard]] virtual const device::Buffer& arrived() const = 0;

  /// Exchanges the blocks of a round between buffers of the transport; `outgoing` has A from block `first`
  /// on.
  device::Event start_exchange(const Round& round, transport::Memory& outgoing, std::size_t first,
                               transport::Memory& incoming);
  /// Waits until nothing reads any more what arrived in the slot.
  void free(std::size_t slot) { transposition_.finish(slot); }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  [[nodiscard]] std::size_t own_bytes() const { return plan_.blocks.size() * block_bytes_; }
  [[nodiscard]] std::size_t arrived_bytes() const { return plan_.places * block_bytes_; }
  [[nodiscard]] transport::Transport& transport() { return *transport_; }

  [[nodiscard]] Transposition& transposition() { return transposition_; }
  /// All of C, once.
  virtual void run();
  /// Waits for all kernels.
  void finish();

 private:
  const Plan& plan_;
  std::size_t block_bytes_;
  Transposition transposition_;
  std::unique_ptr<transport::Transport> transport_;
};

}  // namespace fabricmark::ptrans
