// Over Intel's external channels: pairs of kernels, which send and receive all messages of a timed part
// without the host (kernels/b_eff/channels.cl).
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "benchmarks/b_eff/exchanges.hpp"
#include "benchmarks/b_eff/executions.hpp"
#include "benchmarks/b_eff/series.hpp"
#include "benchmarks/common/channels.hpp"

namespace fabricmark::b_eff {

namespace {

constexpr std::size_t kLanes = 2;  // channels of a pair
constexpr std::size_t kPairs = kDirections;
constexpr std::size_t kChannelElementBytes = 4;  // of channel_width

class OverExternalChannels : public Exchanges {
 public:
  explicit OverExternalChannels(const runtime::Context& context)
      : Exchanges(context),
        info_(context.device().info()),
        chunk_bytes_(kLanes * kChannelElementBytes * context.parameters().count("channel_width")),
        fault_(context.fault()),
        send_(context.replications(kPairs, 0)),
        receive_(context.replications(kPairs, 1)),
        received_(context.buffers(1, "received")) {
    common::require_cables(context);
    check_fault();
  }

  void prepare(int repetition) override {
    ++prepared_;
    spoils_ = fault_ && (!fault_->rank || *fault_->rank == ranks().rank()) &&
              (!fault_->repetition || *fault_->repetition == repetition);
    verdicts_ = new_verdicts(kWrongBytes);
  }

  void execute(runtime::Laps& laps) override {
    for (const std::size_t bytes : sizes()) {
      const std::size_t count = messages(bytes, kMessagesOfKernels);
      set_arguments(bytes, count);
      laps.time(
          lap_name(kExchange, bytes), [&] { run(); }, count);
      for (std::size_t pair = 0; pair < kPairs; ++pair) check_received(pair, bytes, count);
    }
  }

  std::vector<runtime::Verdict> validate() override { return {verdicts_.begin(), verdicts_.end()}; }
  [[nodiscard]] std::vector<std::string> notes() const override {
    return {"the kernels are started once for all messages in a row, which the times include"};
  }

 private:
  void check_fault() const {
    if (!fault_) return;
    using Kind = runtime::Fault::Kind;
    const bool is_possible = fault_->kind == Kind::kElement || fault_->kind == Kind::kScale ||
                             fault_->kind == Kind::kZeros || fault_->kind == Kind::kStale;
    if (is_possible && fault_->target.empty()) return;
    throw bad_use("--inject-fault names what cannot be made wrong between kernels",
                  "use element, scale, zeros or stale, without a target");
  }

  /// What the chunks of a pair's first message begin with; differs between neighbours, directions and parts.
  [[nodiscard]] std::uint8_t value(int rank, std::size_t pair, std::size_t bytes) const {
    return Content{.sender = static_cast<std::uint32_t>(rank),
                   .direction = static_cast<std::uint32_t>(pair),
                   .repetition = prepared_,
                   .bytes = static_cast<std::uint32_t>(bytes)}
        .first();
  }

  /// What the chunk that a pair receives last begins with: it has gone to and fro between this pair and the
  /// neighbour's, and each time a pair sends it on it adds its own number.
  [[nodiscard]] std::uint8_t last_value(std::size_t pair, std::size_t bytes, std::size_t count) const {
    const std::size_t other = kPairs - 1 - pair;
    const auto added = [](std::size_t by) { return 2 * by + 1; };
    const bool is_neighbours = count % 2 == 1;
    const std::size_t beginner = is_neighbours ? other : pair;
    const std::size_t began = value(is_neighbours ? neighbour(pair) : ranks().rank(), beginner, bytes);
    return static_cast<std::uint8_t>(began + count / 2 * added(kPairs - 1 - beginner) +
                                     (count - 1) / 2 * added(beginner));
  }

  void set_arguments(std::size_t bytes, std::size_t count) {
    const std::size_t chunks = (bytes + chunk_bytes_ - 1) / chunk_bytes_;
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const int replica = static_cast<int>(pair);
      send_.set(replica,
                {{"value", value(ranks().rank(), pair, bytes)}, {"chunks", chunks}, {"messages", count}});
      receive_.set(replica, {{"received", received_[pair]}, {"chunks", chunks}, {"messages", count}});
      received_[pair].fill(receive_.queue(replica), kPoison);
      receive_.queue(replica).finish();
    }
  }

  void run() {
    std::vector<device::GroupMember> members;
    for (int pair = 0; pair < send_.count(); ++pair) {
      members.push_back({&receive_, pair});
      members.push_back({&send_, pair});
    }
    for (const device::Event& end : device::start_group(info_, kExchange, members)) end.wait();
  }

  /// The last chunk, and what differed in others.
  void check_received(std::size_t pair, std::size_t bytes, std::size_t count) {
    std::vector<std::byte> found(2 * chunk_bytes_);
    const device::Queue& queue = receive_.queue(static_cast<int>(pair));
    received_[pair].read(queue, found.data(), found.size());
    queue.finish();
    if (spoils_ && pair == 0 && bytes == sizes().back())
      spoil_bytes(std::span(found).first(chunk_bytes_), fault_->kind);
    const std::uint8_t first = last_value(pair, bytes, count);
    runtime::Verdict& verdict = verdicts_[kPairs - 1 - pair];  // from the right it goes to the left
    verdict.checked += found.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto expected =
          i < chunk_bytes_ ? static_cast<std::uint8_t>(first + i) : static_cast<std::uint8_t>(0);
      if (found[i] == std::byte{expected}) continue;
      ++verdict.error;
      if (verdict.worst) continue;
      verdict.worst = {fmt::format("{} {} of a chunk of messages of {} bytes",
                                   i < chunk_bytes_ ? "byte" : "changes of byte", i % chunk_bytes_, bytes),
                       static_cast<double>(expected), static_cast<double>(found[i])};
    }
  }

  const device::DeviceInfo& info_;
  std::size_t chunk_bytes_;
  std::optional<runtime::Fault> fault_;
  device::Replications send_, receive_;
  std::vector<device::Buffer> received_;  // [pair]
  std::uint32_t prepared_ = 0;            ///< repetitions, the warm-up's too
  bool spoils_ = false;                   ///< in this repetition
  Verdicts verdicts_;
};

}  // namespace

std::unique_ptr<runtime::Benchmark> make_external_channels(const runtime::Context& context) {
  return std::make_unique<OverExternalChannels>(context);
}

}  // namespace fabricmark::b_eff
