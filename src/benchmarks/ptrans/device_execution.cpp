// A on the device, its blocks from device to device over the hosts.
#include "benchmarks/ptrans/staged_execution.hpp"

namespace fabricmark::ptrans {

namespace {

class DeviceExecution : public StagedExecution {
 public:
  DeviceExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                  const WorkItems& work_items)
      : StagedExecution(context, plan, block_bytes, work_items),
        a_(transport().allocate(not_empty(own_bytes()))),
        arrived_(transport().allocate(not_empty(arrived_bytes()))) {}

  void write_a(std::span<const std::byte> blocks) override {
    if (!blocks.empty()) a_->write(0, blocks);
  }
  void poison_arrived(std::span<const std::byte> blocks) override {
    if (arrived_bytes() > 0) arrived_->write(0, blocks.first(arrived_bytes()));
  }
  void read_arrived(std::span<std::byte> blocks) override {
    if (!blocks.empty()) arrived_->read(0, blocks);
  }

 private:
  void deliver_staying() override {}
  void deliver(const Round& round) override { exchange(round, *a_, *arrived_); }
  [[nodiscard]] const device::Buffer& staying() const override { return a_->device(); }
  [[nodiscard]] const device::Buffer& arrived() const override { return arrived_->device(); }

  std::unique_ptr<transport::Memory> a_, arrived_;
};

}  // namespace

std::unique_ptr<Execution> make_between_devices(const runtime::Context& context, const Plan& plan,
                                                std::size_t block_bytes, const WorkItems& work_items) {
  return std::make_unique<DeviceExecution>(context, plan, block_bytes, work_items);
}

}  // namespace fabricmark::ptrans
