// b_eff: the effective bandwidth of a ring of ranks (Meyer 2024, sections 4.1.1 and 5.1.2): messages of
// 2^0 to 2^20 bytes to both neighbours, over any transport; for the way over the host also its steps one by
// one.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "benchmarks/b_eff/series.hpp"
#include "fabric/host_transport.hpp"
#include "runtime/run.hpp"

namespace fabricmark::b_eff {

namespace {

constexpr std::size_t kRoomBytes = std::size_t{4} << 20;  // for the messages of one timed part and direction

/// What differs between the transports.
struct Way {
  std::size_t messages = 0;  ///< in a row, where nothing else is asked for
  bool has_steps = false;    ///< over the host, on a device
};
constexpr Way kOverCpu{.messages = 500, .has_steps = false};
constexpr Way kOverHost{.messages = 20, .has_steps = true};

/// What the steps over the host need, one by one: a transport of whole messages without faults, and a kernel
/// before and after with the byte that it writes.
struct Steps {
  explicit Steps(const runtime::Context& context)
      : transport(context, 0), kernels(context.replications(1)), touched(context.buffer(1)) {
    kernels.set(0, {{"memory", touched}});
  }

  fabric::HostTransport transport;
  device::Replications kernels;
  device::Buffer touched;
};

std::string lap_name(const std::string& operation, std::size_t bytes) {
  return operation + "/" + std::to_string(bytes);
}

class EffectiveBandwidth : public runtime::Benchmark {
 public:
  EffectiveBandwidth(const runtime::Context& context, const Way& way)
      : ranks_(context.ranks()),
        fault_(context.conditions().fault),
        transport_(fabric::make_transport(context.parameters().text("transport"),
                                          context.parameters().count("chunk_bytes"), context,
                                          context.parameters().flag("map_memory"))),
        series_(*transport_, context.ranks(), std::size_t{1} << context.parameters().count("largest"),
                kRoomBytes) {
    if (way.has_steps && context.parameters().flag("sub_steps")) steps_.emplace(context);
    most_messages_ = context.parameters().count("messages");
    if (most_messages_ == 0) most_messages_ = way.messages;
    for (std::size_t i = 0; i <= context.parameters().count("largest"); ++i)
      sizes_.push_back(std::size_t{1} << i);
    verdicts_[0].name = "messages to the right";
    verdicts_[1].name = "messages to the left";
    of_steps_.name = "steps over the host";
    for (runtime::Verdict* verdict : {&verdicts_[0], &verdicts_[1], &of_steps_})
      verdict->measure = "wrong bytes";
    if (fault_ && !fault_->target.empty()) check_target();
  }

  /// Messages are made, and receive buffers poisoned, before each timed part.
  void prepare(int repetition) override {
    ++prepared_;
    is_spoiled_ = fault_ && !fabric::is_message_fault(*fault_) && is_faulty_rank() &&
                  (!fault_->repetition || *fault_->repetition == repetition);
    prepare_verdicts();
  }

  void execute(runtime::Laps& laps) override {
    for (const std::size_t bytes : sizes_) {
      const std::size_t count = messages(bytes);
      series_.prepare(bytes, count, 2 * prepared_);
      laps.time_each(lap_name("exchange", bytes), count, [&](std::size_t place) { series_.exchange(place); });
      if (bytes == sizes_.back() && spoils("")) series_.spoil(0, fault_->kind);
      series_.check(verdicts_);
      if (steps_) time_steps(laps, bytes, count);
    }
  }

  /// Faults are made while messages are exchanged, by the transport or above.
  void inject(const runtime::Fault& /*fault*/) override {}

  std::vector<runtime::Verdict> validate_repetition() override {
    std::vector<runtime::Verdict> found{verdicts_.begin(), verdicts_.end()};
    if (steps_) found.push_back(of_steps_);
    return found;
  }

  /// The last messages again: they still stand where they arrived.
  std::vector<runtime::Verdict> validate() override {
    prepare_verdicts();
    series_.check(verdicts_);
    return {verdicts_.begin(), verdicts_.end()};
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    std::vector<runtime::Metric> metrics;
    for (const std::size_t bytes : sizes_) {
      runtime::Metric bandwidth = runtime::bandwidth("exchange", message_bytes(bytes));
      bandwidth.lap = lap_name("exchange", bytes);
      bandwidth.axes.push_back({"message_bytes", static_cast<std::int64_t>(bytes)});
      metrics.push_back(bandwidth);
      metrics.push_back(latency("exchange", bytes));
    }
    if (!steps_) return metrics;
    for (const char* step : {"kernel", "read", "message", "write", "kernel_after"}) {
      for (const std::size_t bytes : sizes_) metrics.push_back(latency(step, bytes));
    }
    return metrics;
  }

  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::LapSeconds>& laps) const override {
    runtime::DerivedMetric effective{.name = "effective_bandwidth", .unit = "GB/s"};
    effective.formula =
        "mean over all message sizes of the bandwidth, both directions and all ranks (eq. 4.1)";
    for (const std::size_t bytes : sizes_) {
      const runtime::LapSeconds& seconds = laps.at(lap_name("exchange", bytes));
      const double gigabytes = message_bytes(bytes) * ranks_.size() * 1e-9;
      effective.best += gigabytes / seconds.best / static_cast<double>(sizes_.size());
      effective.median += gigabytes / seconds.median / static_cast<double>(sizes_.size());
    }
    return {effective};
  }

 private:
  [[nodiscard]] std::size_t messages(std::size_t bytes) const {
    return std::clamp<std::size_t>(kRoomBytes / bytes, 1, most_messages_);
  }
  /// Bytes that a rank sends in one exchange, in both directions.
  static double message_bytes(std::size_t bytes) { return static_cast<double>(kDirections * bytes); }
  [[nodiscard]] runtime::Metric latency(const std::string& operation, std::size_t bytes) const {
    runtime::Metric metric{.name = "latency", .lap = lap_name(operation, bytes), .unit = "us"};
    metric.axes = {{"operation", operation}, {"message_bytes", static_cast<std::int64_t>(bytes)}};
    metric.scale = 1e6;
    metric.better = runtime::Better::kLower;
    return metric;
  }
  [[nodiscard]] bool is_faulty_rank() const { return !fault_->rank || *fault_->rank == ranks_.rank(); }

  [[nodiscard]] bool spoils(const std::string& target) const {
    return is_spoiled_ && fault_->target == target;
  }

  void check_target() const {
    using Kind = runtime::Fault::Kind;
    const bool is_value = fault_->kind == Kind::kElement || fault_->kind == Kind::kScale ||
                          fault_->kind == Kind::kZeros || fault_->kind == Kind::kStale;
    constexpr std::array kSteps{"kernel", "read", "message", "write"};
    if (steps_ && is_value && std::ranges::find(kSteps, fault_->target) != kSteps.end()) return;
    throw bad_use(
        fmt::format("--inject-fault names '{}'", fault_->target),
        "leave out the target, as in lost@1, or spoil a step over the host: element, scale, zeros or "
        "stale in kernel, read, message or write");
  }

  void prepare_verdicts() {
    for (runtime::Verdict* verdict : {&verdicts_[0], &verdicts_[1], &of_steps_}) {
      verdict->checked = 0;
      verdict->error = 0;
      verdict->worst.reset();
    }
  }

  /// What the kernel has last written must be this call's value.
  void check_touched(std::uint8_t value, const char* step) {
    std::byte found{};
    steps_->touched.read(steps_->kernels.queue(0), &found, 1);
    steps_->kernels.queue(0).finish();
    if (spoils("kernel")) spoil_bytes({&found, 1}, fault_->kind);
    ++of_steps_.checked;
    if (found == std::byte{value}) return;
    ++of_steps_.error;
    if (!of_steps_.worst) of_steps_.worst = {step, static_cast<double>(value), static_cast<double>(found)};
  }

  /// What an exchange over the host consists of, with a kernel before and after (section 5.1.2, Fig. 5.2).
  /// Each message has its place in the staging memories too, so that all of them can be compared.
  void time_steps(runtime::Laps& laps, std::size_t bytes, std::size_t count) {
    const auto time = [&](const char* step, auto&& work) {
      laps.time_each(lap_name(step, bytes), count, work);
    };
    series_.prepare(bytes, count, 2 * prepared_ + 1);
    const std::span<std::byte> sent = steps_->transport.staged_sends(series_.all_bytes());
    const std::span<std::byte> received = steps_->transport.staged_receives(series_.all_bytes());
    std::ranges::fill(sent, kPoison);
    std::ranges::fill(received, kPoison);
    const auto staged = [&](std::size_t place) { return place * series_.place_bytes(); };
    const auto touch = [&](const char* step) {
      const auto value = static_cast<std::uint8_t>(++touches_ % 251 + 1);
      steps_->kernels.set(0, {{"value", value}});
      time(step, [&](std::size_t) { steps_->kernels.run(step, {{}}); });
      check_touched(value, step);
    };
    const auto check = [&](const std::string& step, std::span<std::byte> messages, bool are_received) {
      if (spoils(step)) spoil_bytes(messages.first(bytes), fault_->kind);
      series_.check_staged(messages, are_received, step + ": ", of_steps_);
    };
    touch("kernel");
    time("read",
         [&](std::size_t place) { steps_->transport.read_step(series_.sends(place), staged(place)); });
    check("read", sent, false);
    time("message", [&](std::size_t place) {
      steps_->transport.message_step(series_.sends(place), series_.receives(place), staged(place));
    });
    check("message", received, true);
    time("write",
         [&](std::size_t place) { steps_->transport.write_step(series_.receives(place), staged(place)); });
    if (spoils("write")) series_.spoil(0, fault_->kind);
    series_.check(verdicts_);
    touch("kernel_after");
  }

  runtime::Communicator& ranks_;
  std::optional<runtime::Fault> fault_;
  std::unique_ptr<fabric::Transport> transport_;
  Series series_;
  std::optional<Steps> steps_;  ///< where they are wanted
  std::size_t most_messages_ = 0;
  std::vector<std::size_t> sizes_;
  std::uint32_t prepared_ = 0;  ///< repetitions, the warm-up's too
  std::uint32_t touches_ = 0;
  bool is_spoiled_ = false;  ///< the fault is to be made in this repetition, above the transport
  std::array<runtime::Verdict, kDirections> verdicts_;
  runtime::Verdict of_steps_;
};

/// An entry of the table: the benchmark over a transport.
auto with(const Way& way) {
  return [=](const runtime::Context& context) { return std::make_unique<EffectiveBandwidth>(context, way); };
}

}  // namespace

}  // namespace fabricmark::b_eff

int main(int argc, char** argv) {
  using namespace fabricmark::b_eff;
  return fabricmark::runtime::run_program(
      argc, argv,
      {"b_eff",
       {{"base", "cpu", with(kOverCpu), /*needs_device=*/false}, {"base", "host", with(kOverHost)}}});
}
