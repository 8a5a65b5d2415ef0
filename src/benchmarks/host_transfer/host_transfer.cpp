// host_transfer: how fast data moves between host and device, by size, number of buffers, direction, way of
// copying and kind of host memory, and how far transfers and kernels overlap (Karl 2021, sections I.5 and
// I.6).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "benchmarks/host_transfer/cases.hpp"
#include "benchmarks/host_transfer/overlap.hpp"
#include "benchmarks/host_transfer/rig.hpp"
#include "runtime/run.hpp"

namespace fabricmark::host_transfer {

namespace {

/// Bytes per second of the host's own copies of this size, on all cores; out of its caches where they fit.
double host_copy_rate(std::size_t bytes) {
  constexpr int kCopies = 20;
  const device::HostArray<std::byte> from(bytes);
  device::HostArray<std::byte> to(bytes);
  std::memset(to.data(), 1, bytes);
  std::memcpy(const_cast<std::byte*>(from.data()), to.data(), bytes);
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), bytes);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(bytes) / std::max(elapsed.count(), 1e-9));
  }
  return best * std::thread::hardware_concurrency();
}

/// The target of a fault that loses copies of the pipeline instead of those of the transfers.
constexpr std::string_view kPipeline = "pipeline";

/// NVIDIA's OpenCL (driver 580) crashes when a sub-buffer is migrated; nothing outside the driver can catch
/// that.
bool leave_out_parts(const device::DeviceInfo& info, std::vector<Case>& cases) {
  if (info.platform.find("NVIDIA") == std::string::npos) return false;
  return std::erase_if(cases, [](const Case& one) { return one.method == "sub-buffer"; }) > 0;
}

class HostTransfer : public runtime::Benchmark {
 public:
  HostTransfer(const runtime::Context& context, Overlap::WorkItems work_items)
      : link_bytes_per_second_(context.parameters().number("link_gb_per_s") * 1e9),
        shares_memory_(context.device().info().is_in_host_memory()),
        fault_(context.conditions().fault),
        is_faulty_rank_(fault_ && (!fault_->rank || *fault_->rank == context.ranks().rank())),
        cases_(make_cases(context.parameters(), shares_memory_)),
        leaves_out_parts_(leave_out_parts(context.device().info(), cases_)),
        overlap_bytes_(context.parameters().count("overlap_bytes")) {
    const bool is_known = !fault_ || (fault_->kind == runtime::Fault::Kind::kLost &&
                                      (fault_->target.empty() || fault_->target == kPipeline));
    if (!is_known) {
      throw bad_use("host_transfer can only lose copies", "use --inject-fault lost or lost:pipeline");
    }
    require_memory(context);
    rig_ = std::make_unique<Rig>(context, cases_);
    overlap_ = std::make_unique<Overlap>(context, work_items, overlap_bytes_);
  }

  void generate() override {
    for (const Case& one : cases_) {
      if (link_bytes_per_second_ > 0 || host_rates_.contains(one.bytes)) continue;
      host_rates_[one.bytes] = host_copy_rate(one.bytes);
    }
  }

  /// What there is to make and to spoil is made between the timed parts, because they share memory.
  void prepare(int repetition) override {
    repetition_ = repetition;
    found_ = Found();
  }

  void execute(runtime::Laps& laps) override {
    constexpr std::uint32_t kStride = 1U << 20;  // marks of two repetitions do not meet on any page
    const std::uint32_t value = static_cast<std::uint32_t>(repetition_) * kStride + 1;
    for (const Case& one : cases_) {
      laps.aside([&] { rig_->mark(one, value); });
      const double seconds = laps.time(one.name(), [&] { rig_->transfer(one, loses("")); }).wall_seconds;
      laps.aside([&] { check(one, value); });
      check_rate(one, seconds);
    }
    // Not one apart: what the kernel has made of the pieces before must not be what is written next.
    const std::uint32_t next = value + kStride / 2;
    laps.aside([&] { overlap_->prepare(value); });
    laps.time("pipeline/serial", [&] { overlap_->run_serial(loses(kPipeline)); });
    laps.aside([&] {
      check_pipeline(value);
      overlap_->prepare(next);
    });
    laps.time("pipeline/overlapped", [&] { overlap_->run_overlapped(loses(kPipeline)); });
    laps.aside([&] { check_pipeline(next); });
  }

  /// Copies were left out all along.
  void inject(const runtime::Fault& /*fault*/) override {}

  /// What execute found; counted once, though the last repetition is asked about twice.
  std::vector<runtime::Verdict> validate() override {
    std::vector<runtime::Verdict> verdicts;
    for (runtime::Verdict* one : {&found_.arrived, &found_.rate, &found_.bytes, &found_.pipeline}) {
      verdicts.push_back(*one);
      one->checked = 0;
    }
    return verdicts;
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    std::vector<runtime::Metric> metrics;
    for (const Case& one : cases_) {
      runtime::Metric metric = runtime::bandwidth(one.direction, static_cast<double>(one.bytes));
      metric.lap = one.name();
      metric.axes = {{"direction", one.direction},
                     {"method", one.method},
                     {"memory", one.memory},
                     {"bytes", static_cast<std::int64_t>(one.bytes)},
                     {"buffers", static_cast<std::int64_t>(one.buffers)}};
      metrics.push_back(metric);
    }
    for (const char* order : {"serial", "overlapped"}) {
      runtime::Metric metric{.name = "pipeline_time", .lap = std::string("pipeline/") + order, .unit = "ms"};
      metric.axes = {{"order", order}};
      metric.scale = 1e3;
      metric.better = runtime::Better::kLower;
      metrics.push_back(metric);
    }
    return metrics;
  }

  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::LapSeconds>& laps) const override {
    const runtime::LapSeconds& serial = laps.at("pipeline/serial");
    const runtime::LapSeconds& overlapped = laps.at("pipeline/overlapped");
    runtime::DerivedMetric speed_up{.name = "overlap_speed_up", .unit = "x"};
    speed_up.formula = "time of write, execute, read piece by piece over that with the steps overlapped";
    speed_up.best = serial.best / overlapped.best;
    speed_up.median = serial.median / overlapped.median;
    return {speed_up};
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (shares_memory_) {
      notes.emplace_back(
          "the device shares the host's memory: migrations would move nothing and were left out");
    }
    if (leaves_out_parts_) {
      notes.emplace_back("NVIDIA's OpenCL crashes on migrating sub-buffers: they were left out");
    }
    return notes;
  }

 private:
  void require_memory(const runtime::Context& context) const {
    double device_bytes = 0;
    double largest = 0;
    for (const Case& one : cases_) {
      largest = std::max(largest, static_cast<double>(one.bytes));
      device_bytes += static_cast<double>(one.bytes);  // an upper bound: cases share buffers
    }
    device_bytes =
        std::min(device_bytes, 30 * largest) + static_cast<double>(Overlap::kPieces * overlap_bytes_);
    constexpr double kHostMemories = 8;
    context.require_memory({.host_bytes = kHostMemories * largest,
                            .device_bytes = device_bytes,
                            .largest_buffer_bytes = 2 * largest},
                           "largest");
  }

  /// Whether copies are left out in this repetition, of the transfers (empty) or of the pipeline.
  [[nodiscard]] bool loses(std::string_view target) const {
    return is_faulty_rank_ && fault_->target == target &&
           fault_->repetition.value_or(repetition_) == repetition_;
  }

  static void note(runtime::Verdict& verdict, std::size_t wrong, std::size_t checked,
                   const std::string& place) {
    if (wrong > 0 && !verdict.worst) verdict.worst = {place, 0, static_cast<double>(wrong)};
    verdict.error += static_cast<double>(wrong);
    verdict.checked += checked;
  }

  void check(const Case& one, std::uint32_t value) {
    note(found_.arrived, rig_->count_wrong(one, value), one.bytes / device::kPageBytes, one.name());
    note(found_.bytes, rig_->compare_all(one), one.is_migration() ? 0 : one.bytes, one.name());
  }

  void check_pipeline(std::uint32_t value) {
    note(found_.pipeline, overlap_->count_wrong(value), overlap_->count(), "words of the pipeline");
  }

  /// A transfer that is faster than the link has not taken place, whatever the runtime says.
  void check_rate(const Case& one, double seconds) {
    const double ways = one.direction == "both" ? 2 : 1;
    const double rate = static_cast<double>(one.bytes) / seconds;
    const double limit =
        link_bytes_per_second_ > 0 ? ways * link_bytes_per_second_ : host_limit(one.bytes, rate);
    found_.rate.checked += 1;
    if (rate / limit <= found_.rate.error) return;
    found_.rate.error = rate / limit;
    found_.rate.worst = {one.name() + " in GB/s", limit / 1e9, rate / 1e9};
  }

  /// The most that the host's memory did. Measured again where a rate beats it by far: other work on the
  /// machine may have held it up before.
  double host_limit(std::size_t bytes, double rate) {
    constexpr int kTries = 3;
    double& known = host_rates_.at(bytes);
    for (int i = 0; i < kTries && rate > found_.rate.threshold * known; ++i) {
      known = std::max(known, host_copy_rate(bytes));
    }
    return known;
  }

  double link_bytes_per_second_;
  bool shares_memory_;
  std::optional<runtime::Fault> fault_;
  bool is_faulty_rank_;
  std::vector<Case> cases_;
  bool leaves_out_parts_;
  std::size_t overlap_bytes_;
  std::unique_ptr<Rig> rig_;
  std::unique_ptr<Overlap> overlap_;
  std::map<std::size_t, double> host_rates_;
  /// The verdicts on one repetition.
  struct Found {
    runtime::Verdict arrived{.name = "copies that arrived", .measure = "pages without their mark"};
    // Twice the limit: caches and turbo clocks let a small copy beat the rate of the moment it was
    // measured.
    runtime::Verdict rate{.name = "rates", .threshold = 2, .measure = "largest rate over the link's limit"};
    runtime::Verdict bytes{.name = "bytes", .measure = "wrong bytes"};
    runtime::Verdict pipeline{.name = "write, execute, read", .measure = "wrong words"};
  };
  Found found_;
  int repetition_ = 0;
};

/// An entry of the table: the benchmark with kernels of these work-items.
auto with(Overlap::WorkItems work_items) {
  return [=](const runtime::Context& context) { return std::make_unique<HostTransfer>(context, work_items); };
}

}  // namespace

}  // namespace fabricmark::host_transfer

int main(int argc, char** argv) {
  using namespace fabricmark::host_transfer;
  constexpr int kRepetitions = 50;  // mean and deviation of 50, as in the source
  return fabricmark::runtime::run_program(argc, argv,
                                          {"host_transfer",
                                           {{"base", "", with(Overlap::WorkItems::kSingle)},
                                            {"throughput", "", with(Overlap::WorkItems::kEachWord)}},
                                           kRepetitions});
}
