// b_eff: the effective bandwidth of a ring of ranks (dissertation 000, sections 4.1.1 and 5.1.2): messages of
// 2^0 to 2^20 bytes to both neighbours, over any transport; for the way over the host also its steps one by
// one.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "benchmarks/b_eff/series.hpp"
#include "device/error.hpp"
#include "fabric/host_transport.hpp"
#include "harness/run.hpp"

namespace fabricmark::b_eff {

namespace {

constexpr std::size_t kRoomBytes = std::size_t{4} << 20;  // for the messages of one timed part and direction
constexpr std::size_t kMessagesCpu = 500;
constexpr std::size_t kMessagesHost = 20;

std::string lap_name(const std::string& operation, std::size_t bytes) {
  return operation + "/" + std::to_string(bytes);
}

class EffectiveBandwidth : public harness::Benchmark {
 public:
  static constexpr const char* name = "b_eff";
  explicit EffectiveBandwidth(const harness::Context& context)
      : ranks_(context.ranks()),
        fault_(context.conditions().fault),
        transport_(fabric::make_transport(context.parameters().text("transport"),
                                          context.parameters().count("chunk_bytes"), context,
                                          context.parameters().flag("map_memory"))),
        series_(*transport_, context.ranks(), std::size_t{1} << context.parameters().count("largest"),
                kRoomBytes),
        kernels_(context.replications(1)),
        touched_(context.buffer(1)) {
    const bool is_over_host = transport_->name() == "host";
    if (is_over_host && context.parameters().flag("sub_steps")) {
      steps_ = std::make_unique<fabric::HostTransport>(context, 0);
    }
    most_messages_ = context.parameters().count("messages");
    if (most_messages_ == 0) most_messages_ = is_over_host ? kMessagesHost : kMessagesCpu;
    for (std::size_t i = 0; i <= context.parameters().count("largest"); ++i)
      sizes_.push_back(std::size_t{1} << i);
    verdicts_[0].name = "messages to the right";
    verdicts_[1].name = "messages to the left";
    for (harness::Verdict& verdict : verdicts_) verdict.measure = "wrong bytes";
    if (fault_ && !fault_->target.empty()) {
      throw bad_use(fmt::format("--inject-fault names '{}', but b_eff has no parts to spoil", fault_->target),
                    "leave out the target, as in lost@1");
    }
  }

  void generate() override {
    touched_.set_argument(kernels_.kernel(0), 0);
    kernels_.kernel(0).setArg(1, cl_uchar{1});
  }

  void execute(harness::Laps& laps) override {
    ++repetition_;
    for (const std::size_t bytes : sizes_) {
      const std::size_t count = messages(bytes);
      series_.prepare(bytes, count, repetition_);
      laps.time(
          lap_name("exchange", bytes),
          [&] {
            for (std::size_t place = 0; place < count; ++place) series_.exchange(place);
          },
          count);
      if (bytes == sizes_.back() && fault_ && !fabric::is_message_fault(*fault_) && is_faulty_rank()) {
        series_.spoil(0, fault_->kind);
      }
      series_.check(verdicts_);
      if (steps_) time_steps(laps, bytes, count);
    }
  }

  /// Faults are made while messages are exchanged, by the transport or above.
  void inject(const harness::Fault& /*fault*/) override {}

  std::vector<harness::Verdict> validate() override { return {verdicts_.begin(), verdicts_.end()}; }

  [[nodiscard]] std::vector<harness::Metric> metrics() const override {
    std::vector<harness::Metric> metrics;
    for (const std::size_t bytes : sizes_) {
      harness::Metric bandwidth = harness::bandwidth("exchange", message_bytes(bytes));
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

  [[nodiscard]] std::vector<harness::DerivedFigure> derive(
      const std::map<std::string, harness::LapSeconds>& laps) const override {
    harness::DerivedFigure effective{.name = "effective_bandwidth", .unit = "GB/s"};
    effective.formula =
        "mean over all message sizes of the bandwidth, both directions and all ranks (eq. 4.1)";
    for (const std::size_t bytes : sizes_) {
      const harness::LapSeconds& seconds = laps.at(lap_name("exchange", bytes));
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
  [[nodiscard]] harness::Metric latency(const std::string& operation, std::size_t bytes) const {
    harness::Metric metric{.name = "latency", .lap = lap_name(operation, bytes), .unit = "us"};
    metric.axes = {{"operation", operation}, {"message_bytes", static_cast<std::int64_t>(bytes)}};
    metric.scale = 1e6;
    metric.better = harness::Better::kLower;
    return metric;
  }
  [[nodiscard]] bool is_faulty_rank() const { return !fault_->rank || *fault_->rank == ranks_.rank(); }

  /// What an exchange over the host consists of, with a kernel before and after (section 5.1.2, Fig. 5.2).
  void time_steps(harness::Laps& laps, std::size_t bytes, std::size_t count) {
    const auto time = [&](const char* step, auto&& work) {
      laps.time(
          lap_name(step, bytes),
          [&] {
            for (std::size_t place = 0; place < count; ++place) work(place);
          },
          count);
    };
    time("kernel", [&](std::size_t) { kernels_.run("kernel", {{}}); });
    time("read", [&](std::size_t place) { steps_->read_step(series_.sends(place)); });
    time("message",
         [&](std::size_t place) { steps_->message_step(series_.sends(place), series_.receives(place)); });
    time("write", [&](std::size_t place) { steps_->write_step(series_.receives(place)); });
    time("kernel_after", [&](std::size_t) { kernels_.run("kernel_after", {{}}); });
  }

  harness::Ranks& ranks_;
  std::optional<harness::Fault> fault_;
  std::unique_ptr<fabric::Transport> transport_;
  std::unique_ptr<fabric::HostTransport> steps_;  ///< whole messages without faults; null unless wanted
  Series series_;
  device::Replications kernels_;
  device::Buffer touched_;
  std::size_t most_messages_ = 0;
  std::vector<std::size_t> sizes_;
  std::uint32_t repetition_ = 0;
  std::array<harness::Verdict, kDirections> verdicts_;
};

}  // namespace

}  // namespace fabricmark::b_eff

int main(int argc, char** argv) {
  return fabricmark::harness::run<fabricmark::b_eff::EffectiveBandwidth>(argc, argv);
}
