// A on the host: the hosts exchange its blocks, and every block that a kernel needs is written to the device.
#include "benchmarks/ptrans/staged_execution.hpp"

namespace fabricmark::ptrans {

namespace {

class HostExecution : public StagedExecution {
 public:
  HostExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                const WorkItems& work_items)
      : StagedExecution(context, plan, block_bytes, work_items),
        a_(transport().allocate(not_empty(own_bytes()))),
        incoming_(transport().allocate(not_empty(arrived_bytes()))),
        staying_(context.buffer(not_empty(own_bytes()), {0, 0, "a"})),
        arrived_(context.buffer(not_empty(arrived_bytes()), {0, 1, "a"})),
        writes_(context.device().queue()) {}

  void write_a(std::span<const std::byte> blocks) override {
    if (!blocks.empty()) a_->write(0, blocks);
  }
  void poison_arrived(std::span<const std::byte> blocks) override {
    if (own_bytes() > 0) staying_.write(writes_, blocks.data(), own_bytes());
    if (arrived_bytes() > 0) {
      arrived_.write(writes_, blocks.data(), arrived_bytes());
      incoming_->write(0, blocks.first(arrived_bytes()));
    }
    writes_.finish();
  }
  void read_arrived(std::span<std::byte> blocks) override {
    if (!blocks.empty()) arrived_.read(writes_, blocks.data(), blocks.size());
    writes_.finish();
  }

 private:
  void deliver_staying() override {
    for (std::size_t i = 0; i < plan().staying; ++i) write(*a_, staying_, plan().tasks[i].source, 1);
    writes_.finish();
  }
  void deliver(const Round& round) override {
    start_exchange(round, *a_, 0, *incoming_).wait();
    if (round.tasks > 0) write(*incoming_, arrived_, round.first_place, round.tasks);
    writes_.finish();
  }
  /// Blocks to the same place on the device.
  void write(transport::Memory& from, device::Buffer& to, std::size_t first, std::size_t count) {
    const std::size_t offset = first * block_bytes();
    to.write(writes_, from.host().data() + offset, count * block_bytes(), offset);
  }
  [[nodiscard]] const device::Buffer& staying() const override { return staying_; }
  [[nodiscard]] const device::Buffer& arrived() const override { return arrived_; }

  std::unique_ptr<transport::Memory> a_, incoming_;
  device::Buffer staying_, arrived_;
  device::Queue writes_;
};

}  // namespace

std::unique_ptr<Execution> make_between_hosts(const runtime::Context& context, const Plan& plan,
                                              std::size_t block_bytes, const WorkItems& work_items) {
  return std::make_unique<HostExecution>(context, plan, block_bytes, work_items);
}

}  // namespace fabricmark::ptrans
