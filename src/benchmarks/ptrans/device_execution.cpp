// A on the device, its blocks from device to device by messages, or read by kernels where they reach them.
#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "benchmarks/ptrans/pull.hpp"
#include "benchmarks/ptrans/staged_execution.hpp"

namespace fabricmark::ptrans {

namespace {

class DeviceExecution : public StagedExecution {
 public:
  DeviceExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                  const WorkItems& work_items)
      : StagedExecution(context, plan, block_bytes, work_items),
        staying_(transport().allocate(not_empty(staying_bytes()))),
        leaving_(transport().allocate(not_empty(own_bytes() - staying_bytes()))),
        arrived_(transport().allocate(not_empty(arrived_bytes()))) {
    wakes_ = transport().allocate(kWakeBytes);
    set_pulls(context);
    if (context.fault()) return;  // which is for messages with blocks: without peers, nothing is sent
    for (const Round& round : plan.rounds) {
      for (const Transit& transit : round.receives) peers_.insert(transit.peer);
    }
    woken_ = transport().allocate(not_empty(peers_.size() * kWakeBytes));
  }

  void write_a(std::span<const std::byte> blocks) override {
    if (blocks.empty()) return;
    if (staying_bytes() > 0) staying_->write(0, blocks.first(staying_bytes()));
    if (staying_bytes() < own_bytes()) leaving_->write(0, blocks.subspan(staying_bytes()));
  }
  void poison_arrived(std::span<const std::byte> blocks) override {
    if (arrived_bytes() > 0) arrived_->write(0, blocks.first(arrived_bytes()));
  }
  void read_arrived(std::span<std::byte> blocks) override {
    if (!blocks.empty()) arrived_->read(0, blocks);
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    if (reached_.empty()) return {};
    return {"blocks of A: kernels read them from other ranks' memory; the part exchange is of messages"};
  }
  void wake_links() override {
    std::vector<transport::Message> sends, receives;
    for (const int peer : peers_) {
      sends.push_back({{wakes_.get(), 0, kWakeBytes}, peer, 0});
      receives.push_back({{woken_.get(), receives.size() * kWakeBytes, kWakeBytes}, peer, 0});
    }
    transport().exchange(sends, receives);
  }

 private:
  static constexpr std::size_t kWakeBytes = std::size_t{64} << 10;

  /// Kernels take blocks from other ranks' memory where they reach it. Collective. Throws Error (bad use)
  /// where they must, and do not.
  void set_pulls(const runtime::Context& context) {
    const std::string& wanted = context.parameters().text("one_sided");
    if (wanted == "false" || transport().ranks().size() == 1) return;
    if (context.variant() == "throughput") reached_ = transport().reach(*leaving_);
    if (reached_.empty()) {
      if (wanted == "auto") return;
      throw bad_use(fmt::format("--one-sided true: kernels of the variant {} do not read other ranks' memory "
                                "over {}",
                                context.variant(), context.parameters().text("transport")),
                    "use --one-sided auto, or kernels and a transport that do, as throughput and nvlink");
    }
    pulls_ = make_pulls(Distribution::of(context), transport().ranks().rank(), plan());
    std::vector<Task> tasks;
    for (const Pull& pull : pulls_) tasks.insert(tasks.end(), pull.tasks.begin(), pull.tasks.end());
    transposition().set_pulls(context, tasks);
  }
  void run() override {
    if (reached_.empty()) return StagedExecution::run();
    std::size_t first = 0;
    std::size_t slot = 0;
    for (const Pull& pull : pulls_) {
      const device::Buffer& theirs = reached_[static_cast<std::size_t>(pull.peer)];
      transposition().start_pull("transpose", slot++ % (kSlots + 1), staying(), theirs, first,
                                 pull.tasks.size());
      first += pull.tasks.size();
    }
    finish();
    transport().ranks().barrier();  // what others read may change now
  }

  void deliver_staying() override {}
  void begin_to_deliver(const Round& round) override {
    free(round.slot);
    in_flight_ = start_exchange(round, *leaving_, plan().staying, *arrived_);
  }
  void deliver(const Round& round) override {
    if (!in_flight_) begin_to_deliver(round);
    std::exchange(in_flight_, std::nullopt)->wait();
  }
  [[nodiscard]] const device::Buffer& staying() const override { return staying_->device(); }
  [[nodiscard]] const device::Buffer& arrived() const override { return arrived_->device(); }

  [[nodiscard]] std::size_t staying_bytes() const { return plan().staying * block_bytes(); }

  // Of A in two: a transport may reach no memory of 512 MiB, and only one part is sent.
  std::unique_ptr<transport::Memory> staying_, leaving_, arrived_;
  std::unique_ptr<transport::Memory> wakes_, woken_;  // [peer]
  std::set<int> peers_;
  std::optional<device::Event> in_flight_;  // of the next round
  std::vector<device::Buffer> reached_;     // what leaves each rank; empty: by messages
  std::vector<Pull> pulls_;
};

}  // namespace

std::unique_ptr<Execution> make_between_devices(const runtime::Context& context, const Plan& plan,
                                                std::size_t block_bytes, const WorkItems& work_items) {
  return std::make_unique<DeviceExecution>(context, plan, block_bytes, work_items);
}

}  // namespace fabricmark::ptrans
