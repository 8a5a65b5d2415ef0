// host_transfer: how fast data moves between host and device, by size, number of buffers, direction, way of
// copying and kind of host memory, what single commands take, and how far transfers and kernels overlap (Karl
// 2021, sections I.3, I.5 and I.6).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "benchmarks/host_transfer/cases.hpp"
#include "benchmarks/host_transfer/commands.hpp"
#include "benchmarks/host_transfer/launches.hpp"
#include "benchmarks/host_transfer/overlap.hpp"
#include "benchmarks/host_transfer/rates.hpp"
#include "benchmarks/host_transfer/rig.hpp"
#include "runtime/run.hpp"

namespace fabricmark::host_transfer {

namespace {

/// Targets of a fault that loses a copy of the pipeline or a start instead of copies of the transfers.
constexpr std::string_view kPipeline = "pipeline";
constexpr std::string_view kLaunch = "launch";

/// Whether maps and migrations move nothing there, or the runtime knows no buffers over the host's memory.
bool shares_memory(const device::DeviceInfo& info) {
  return info.is_in_host_memory() || !info.has_memory_objects;
}

/// Leaves out what the runtime cannot do, and says so.
std::vector<std::string> leave_out(const device::Device& device, std::vector<Case>& cases) {
  std::vector<std::string> notes;
  if (shares_memory(device.info())) {
    notes.emplace_back(
        "the device shares the host's memory: maps and migrations would move nothing and were left out");
  }
  // NVIDIA's OpenCL (driver 580) crashes there; nothing outside the driver can catch that.
  if (device.info().platform.find("NVIDIA") != std::string::npos &&
      std::erase_if(cases, [](const Case& one) { return one.is_part(); }) > 0) {
    notes.emplace_back("NVIDIA's OpenCL crashes on migrating sub-buffers: they were left out");
  }
  if (!device.unordered_queue() &&
      std::erase_if(cases, [](const Case& one) { return !one.is_ordered(); }) > 0) {
    notes.emplace_back("the runtime has no out-of-order queues: they were left out");
  }
  if (cases.empty()) throw bad_use("the runtime can do none of these transfers", "choose other --methods");
  return notes;
}

class HostTransfer : public runtime::Benchmark {
 public:
  HostTransfer(const runtime::Context& context, WorkItems work_items)
      : computes_(context.computes()),
        fault_(context.fault()),
        is_faulty_rank_(fault_ && (!fault_->rank || *fault_->rank == context.ranks().rank())),
        cases_(make_cases(context.parameters(), shares_memory(context.device().info()))),
        notes_(leave_out(context.device(), cases_)),
        rates_(context.parameters().number("link_gb_per_s") * 1e9),
        overlap_bytes_(context.parameters().count("overlap_bytes")) {
    const bool is_known =
        !fault_ || (fault_->kind == runtime::Fault::Kind::kLost &&
                    (fault_->target.empty() || fault_->target == kPipeline || fault_->target == kLaunch));
    if (!is_known) {
      throw bad_use("host_transfer can only lose copies and starts",
                    "use --inject-fault lost, lost:pipeline or lost:launch");
    }
    const auto bank = static_cast<int>(context.parameters().integer("bank"));
    if (bank >= 0 && context.device().info().device_class != device::DeviceClass::kFpga) {
      throw bad_use("--bank on a device whose memory banks cannot be chosen", "leave --bank out");
    }
    const device::Placement place{.bank = bank, .memory = context.board_memory()};
    const bool in_place = !shares_memory(context.device().info());
    require_memory(context, in_place);
    overlap_ = std::make_unique<Overlap>(context, work_items, overlap_bytes_, place);
    commands_ = std::make_unique<Commands>(context, sizes_of(cases_), work_items, place, in_place);
    rig_ = std::make_unique<Rig>(context, cases_, work_items, place, commands_->times_migrations());
    launches_ = std::make_unique<Launches>(context, place);
    if (!commands_->without_times().empty()) {
      notes_.push_back(fmt::format("the runtime gives no times of the commands {}: they have no command_time",
                                   fmt::join(commands_->without_times(), ", ")));
    }
  }

  void generate() override {
    if (computes_) rates_.measure(sizes_of(cases_));
  }

  /// What there is to make and to corrupt is made between the timed regions, because they share memory.
  void prepare(int repetition) override {
    repetition_ = repetition;
    found_ = Found();
  }

  void execute(runtime::TimedRegions& regions) override {
    // Marks of two repetitions meet on no page, and their lowest bytes differ, which are all that a byte
    // holds.
    constexpr std::uint32_t kStride = (1U << 20) + 1;
    const std::uint32_t value = static_cast<std::uint32_t>(repetition_) * kStride + 1;
    for (const Case& one : cases_) time_transfers(one, value, regions);
    // Not one apart: what the kernel has made of the pieces before must not be what is written next.
    const std::uint32_t next = value + kStride / 2;
    regions.aside([&] { overlap_->prepare(value); });
    regions.time("pipeline/serial", [&] { overlap_->run_serial(loses(kPipeline)); });
    regions.aside([&] {
      check_pipeline(value);
      overlap_->prepare(next);
    });
    regions.time("pipeline/overlapped", [&] { overlap_->run_overlapped(loses(kPipeline)); });
    regions.aside([&] { check_pipeline(next); });
    commands_->run(regions);
    note(found_.times, commands_->disordered(), commands_->count(), commands_->worst());
    launches_->run(regions, loses(kLaunch));
    regions.aside(
        [&] { note(found_.launches, launches_->count_wrong(), Launches::count(), "launches of a kernel"); });
  }

  /// Copies were left out all along.
  void inject(const runtime::Fault& /*fault*/) override {}

  /// What execute found; counted once, though the last repetition is asked about twice.
  std::vector<runtime::Verdict> validate() override {
    std::vector<runtime::Verdict> verdicts;
    for (runtime::Verdict* one :
         {&found_.arrived, &found_.rate, &found_.bytes, &found_.pipeline, &found_.times, &found_.launches}) {
      verdicts.push_back(*one);
      one->checked = 0;
    }
    return verdicts;
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    std::vector<runtime::Metric> metrics;
    for (const Case& one : cases_) {
      runtime::Metric metric = runtime::bandwidth(one.direction, static_cast<double>(one.bytes));
      metric.region = one.name();
      metric.axes = {{"direction", one.direction},
                     {"method", one.method},
                     {"memory", one.memory},
                     {"bytes", static_cast<std::int64_t>(one.bytes)},
                     {"buffers", static_cast<std::int64_t>(one.buffers)}};
      metrics.push_back(metric);
    }
    for (const char* order : {"serial", "overlapped"}) {
      metrics.push_back(runtime::duration("pipeline_time", {{"order", order}},
                                          std::string("pipeline/") + order, "ms", 1e3));
    }
    for (const auto& others : {Launches::metrics(), commands_->metrics()}) {
      metrics.insert(metrics.end(), others.begin(), others.end());
    }
    return metrics;
  }

  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& regions) const override {
    const runtime::RegionSeconds& serial = regions.at("pipeline/serial");
    const runtime::RegionSeconds& overlapped = regions.at("pipeline/overlapped");
    runtime::DerivedMetric speed_up{.name = "overlap_speed_up", .unit = "x"};
    speed_up.formula = "time of write, execute, read piece by piece over that with the steps overlapped";
    speed_up.best = serial.best / overlapped.best;
    speed_up.median = serial.median / overlapped.median;
    return {speed_up};
  }

  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

 private:
  void require_memory(const runtime::Context& context, bool in_place) const {
    double device_bytes = 0;
    double largest = 0;
    for (const Case& one : cases_) {
      largest = std::max(largest, static_cast<double>(one.bytes));
      if (!one.is_in_place()) device_bytes += static_cast<double>(one.bytes);  // at most: cases share buffers
    }
    const double over_host = Rig::bytes_in_place(cases_);
    const double of_commands = Commands::device_bytes(sizes_of(cases_), in_place);
    constexpr double kHostMemories = 8;
    context.require_memory({.host_bytes = kHostMemories * largest + over_host + of_commands,
                            .device_bytes = std::min(device_bytes, 30 * largest) + over_host + of_commands +
                                            static_cast<double>(Overlap::kPieces * overlap_bytes_),
                            .largest_buffer_bytes = 2 * largest},
                           "largest");
  }

  /// Whether something is left out in this repetition, of the transfers (empty) or of another target.
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

  /// Each transfer has a mark of its own, and is checked.
  void time_transfers(const Case& one, std::uint32_t first, runtime::TimedRegions& regions) {
    constexpr std::uint32_t kApart = 251;  // more than the pages of a short transfer, and odd
    const std::size_t times = one.in_a_row();
    std::uint32_t value = first;
    regions.aside([&] { rig_->mark(one, value); });
    const auto transfer = [&] {
      for (std::size_t count = 1; count < times; ++count) {
        rig_->transfer(one, loses(""));
        regions.pause([&] {
          check(one, value);
          value += kApart;
          rig_->mark(one, value);
        });
      }
      rig_->transfer(one, loses(""));
    };
    const double seconds = regions.time(one.name(), transfer, times).wall_seconds;
    regions.aside([&] {
      check(one, value);
      if (computes_) check_rate(one, seconds);
    });
  }

  void check(const Case& one, std::uint32_t value) {
    if (!computes_) return;
    const std::size_t pages = one.ways() * one.buffers * pages_of(one.buffer_bytes());
    note(found_.arrived, rig_->count_wrong(one, value), pages, one.name());
    note(found_.bytes, rig_->compare_all(one), one.is_in_place() ? 0 : one.bytes, one.name());
  }

  void check_pipeline(std::uint32_t value) {
    note(found_.pipeline, overlap_->count_wrong(value), overlap_->count(), "words of the pipeline");
  }

  /// A transfer that is faster than the link has not taken place, whatever the runtime says.
  void check_rate(const Case& one, double seconds) {
    const double rate = static_cast<double>(one.bytes) / seconds;
    const double limit = rates_.limit(one, rate, found_.rate.threshold);
    found_.rate.checked += 1;
    if (rate / limit <= found_.rate.error) return;
    found_.rate.error = rate / limit;
    found_.rate.worst = {one.name() + " in GB/s", limit / 1e9, rate / 1e9};
  }

  bool computes_;
  std::optional<runtime::Fault> fault_;
  bool is_faulty_rank_;
  std::vector<Case> cases_;
  std::vector<std::string> notes_;
  Rates rates_;
  std::size_t overlap_bytes_;
  std::unique_ptr<Rig> rig_;
  std::unique_ptr<Overlap> overlap_;
  std::unique_ptr<Commands> commands_;
  std::unique_ptr<Launches> launches_;
  /// The verdicts on one repetition.
  struct Found {
    runtime::Verdict arrived{.name = "copies that arrived", .measure = "pages without their mark"};
    // Twice the limit: caches and turbo clocks let a small copy beat the rate of the moment it was
    // measured.
    runtime::Verdict rate{.name = "rates", .threshold = 2, .measure = "largest rate over the link's limit"};
    runtime::Verdict bytes{.name = "bytes", .measure = "wrong bytes"};
    runtime::Verdict pipeline{.name = "write, execute, read", .measure = "wrong words"};
    runtime::Verdict times{.name = "times of commands", .measure = "commands whose times are not in order"};
    runtime::Verdict launches{.name = "launches", .measure = "starts too few or too many"};
  };
  Found found_;
  int repetition_ = 0;
};

/// An entry of the table: the benchmark with kernels of these work-items.
auto with(WorkItems work_items) {
  return [=](const runtime::Context& context) { return std::make_unique<HostTransfer>(context, work_items); };
}

}  // namespace

}  // namespace fabricmark::host_transfer

int main(int argc, char** argv) {
  using namespace fabricmark::host_transfer;
  constexpr int kRepetitions = 50;  // mean and deviation of 50, as in the source
  return fabricmark::runtime::run_program(
      argc, argv,
      {"host_transfer",
       {{"base", {}, with(WorkItems::kSingle)}, {"throughput", {}, with(WorkItems::kEach)}},
       kRepetitions});
}
