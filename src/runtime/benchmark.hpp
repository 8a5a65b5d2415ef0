#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/interface.hpp"
#include "device/charged.hpp"
#include "device/device.hpp"
#include "device/memory.hpp"
#include "device/replications.hpp"
#include "runtime/clock.hpp"
#include "runtime/communicator.hpp"
#include "runtime/fault.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/laps.hpp"
#include "runtime/memory_plan.hpp"
#include "runtime/modelled_timeline.hpp"
#include "runtime/parameters.hpp"
#include "runtime/system_costs.hpp"

namespace fabricmark::runtime {

/// The element of a result that is furthest from what it should be.
struct WorstPlace {
  std::string place;  ///< such as "a[17]"
  double expected = 0;
  double actual = 0;
};

/// How much of what is repeated in a run was checked, where that is not all of it: what is wrong in one of
/// `of` is found with a chance of `checked` / `of`.
struct Sample {
  std::string unit;  ///< "iterations"
  std::size_t checked = 0;
  std::size_t of = 0;
};

/// What one check of the results found on this rank.
struct Verdict {
  std::string name;
  double error = 0;
  double threshold = 0;
  std::string measure = "largest relative error";
  std::size_t checked = 0;  ///< number of values that were compared
  std::optional<WorstPlace> worst{};
  std::optional<int> repetition{};  ///< in which the error was found; set by the runtime
  std::optional<Sample> sampled{};
  /// NaN errors fail: only an error that is known to be small enough passes.
  [[nodiscard]] bool passed() const { return error <= threshold; }
};

enum class Better { kHigher, kLower };

/// One coordinate of a metric: a text, or a number that plots can use.
struct Axis {
  std::string name;
  std::variant<std::string, std::int64_t> value;
};

/// How the samples of one timed part become a metric. With work, its value is work / seconds * scale (a
/// rate); without, seconds * scale (a time). The seconds are those of all ranks (`spans`).
struct Metric {
  std::string name;          ///< such as "bandwidth"
  std::vector<Axis> axes{};  ///< such as {"operation", "triad"} or {"message_bytes", 1024}
  std::string lap;           ///< name of the timed part
  std::string unit;
  double scale = 1;
  Better better = Better::kHigher;
  double work = 0;  ///< of this rank; summed over the ranks
  std::string work_unit{};
  /// Of which time of its part: that of the wall clock (measured, or emulated on an emulator) where it says
  /// nothing; kModelled: what was charged there.
  std::optional<TimeKind> kind{};
};

/// A rate in GB/s (1e9 bytes per second) of the timed part `operation`, which moves `bytes` on this rank.
inline Metric bandwidth(const std::string& operation, double bytes) {
  return {"bandwidth", {{"operation", operation}}, operation, "GB/s", 1e-9, Better::kHigher, bytes, "B"};
}

/// Seconds of a timed part over all repetitions, in each from the first rank's start to the last one's end.
struct LapSeconds {
  double best = 0;
  double median = 0;
  /// The same of what was charged there; zero where nothing was.
  double modelled_best = 0;
  double modelled_median = 0;
};

/// A metric that is computed from several timed parts and has no samples of its own.
struct DerivedMetric {
  std::string name;
  std::vector<Axis> axes{};
  std::string unit;
  Better better = Better::kHigher;
  double best = 0;
  double median = 0;
  std::string formula{};  ///< how it is computed, in words
  /// Of the times that it is computed from, as in Metric; never of several kinds at once.
  std::optional<TimeKind> kind{};
};

/// Bytes that a benchmark needs on this rank, to be refused early when there are not so many; of the device
/// only where kernel.toml does not say all of it.
struct MemoryNeed {
  double host_bytes = 0;
  double device_bytes = 0;
  double largest_buffer_bytes = 0;
  const MemoryPlan* plan = nullptr;  ///< of a smaller problem; null: that of the run
};

/// What the command line says of a run beside the kernel's parameters.
struct RunConditions {
  device::MemoryKind memory = device::MemoryKind::kBuffer;
  std::optional<Fault> fault;       ///< to be made by the benchmark or by its transport
  double timeout_seconds = 60;      ///< how long a rank waits for a message
  int repetitions = 1;              ///< that are to count; --min-time may bring more
  const int* repetition = nullptr;  ///< the one under way, negative in the warm-up; null: none is counted
  std::shared_ptr<ChargedClock> clock =
      std::make_shared<ChargedClock>();        ///< of this rank, for what is modelled
  std::shared_ptr<const SystemCosts> costs{};  ///< of a described system; null: nothing is charged from one
  std::optional<SystemPlace> system{};         ///< the part of it that the run is on; absent: of none
  std::shared_ptr<const device::CommandCosts> kernel_costs{};  ///< of the variant there; null: nothing says
  ModelledTimeline* modelled_timeline = nullptr;  ///< of what takes time there; null: nobody asks
  device::BoardMemory board_memory{};             ///< of an FPGA, where a system says it
};

/// What a benchmark works with: nothing is global.
class Context {
 public:
  Context(const device::Device& device, const Parameters& parameters, Communicator& ranks,
          device::Timeline& timeline, device::Program program, const VariantSpec& variant,
          const RunConditions& conditions)
      : device_(device),
        parameters_(parameters),
        ranks_(ranks),
        timeline_(timeline),
        program_(std::move(program)),
        variant_(variant),
        conditions_(conditions),
        memory_plan_(std::make_shared<MemoryPlan>(variant, parameters, memory_user())),
        bank_use_(std::make_shared<device::BankUse>(conditions.board_memory)) {}

  [[nodiscard]] const device::Device& device() const { return device_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] Communicator& ranks() const { return ranks_; }
  [[nodiscard]] const std::string& variant() const { return variant_.name; }
  [[nodiscard]] const RunConditions& conditions() const { return conditions_; }
  /// Where the times of kernels go, for what is not a kernel or what is made from them.
  [[nodiscard]] device::Timeline& timeline() const { return timeline_; }
  /// Whether anything is computed and moved: false on a phantom device, where inputs are not made and results
  /// not looked at, so that sizes fit that no memory has room for.
  [[nodiscard]] bool computes() const { return !device_.info().is_phantom; }
  /// What operations cost in a described system, from which they are charged to the clock; null: nothing is.
  [[nodiscard]] const SystemCosts* costs() const { return conditions_.costs.get(); }
  /// What a kernel of the variant takes in that system, by the loops that kernel.toml declares, from the
  /// values of its arguments, all of them whole numbers. Throws Error (bad use) where nothing says.
  [[nodiscard]] double kernel_seconds(const std::string& entry,
                                      const std::vector<std::uint64_t>& arguments) const;
  /// The clock of this rank for what is modelled: what is charged in a timed part is its modelled time.
  [[nodiscard]] ChargedClock& charged_clock() const { return *conditions_.clock; }

  /// `count` concurrent copies of the variant's entry point number `entry`.
  [[nodiscard]] device::Replications replications(int count, std::size_t entry = 0) const {
    return {device_, program_, entry_point(variant_, variant_.entry_points.at(entry), parameters_), count,
            timeline_};
  }
  /// Work-items of a work-group: the parameter work_group_size, or what this entry point can have of it on
  /// the device, which the notes of the result then say.
  [[nodiscard]] std::size_t work_group_size(std::size_t entry = 0) const;
  /// The same of `wanted` work-items.
  [[nodiscard]] std::size_t fitting_group(std::size_t wanted, std::size_t entry = 0) const;
  /// A device buffer of the kind of memory that --memory asks for.
  [[nodiscard]] device::Buffer buffer(std::size_t bytes) const {
    bank_use_->take(-1, bytes);
    return {device_, bytes, conditions_.memory};
  }
  /// The same for an argument, in the bank that kernel.toml wants it in, where banks can be chosen. Throws
  /// Error (bad use) where a system says that this bank has no such room.
  [[nodiscard]] device::Buffer buffer(std::size_t bytes, const ArgumentPlace& place) const;
  /// One that kernel.toml plans, as long as it says and where it says.
  [[nodiscard]] device::Buffer buffer(const PlannedBuffer& planned) const {
    return buffer(planned.bytes, planned.place);
  }
  /// All of an argument that kernel.toml plans, or with no entry point, of other memory.
  [[nodiscard]] std::vector<device::Buffer> buffers(std::optional<std::size_t> entry,
                                                    const std::string& argument) const;
  /// What kernel.toml says of the memory that the kernels of this rank work on.
  [[nodiscard]] const MemoryPlan& memory_plan() const { return *memory_plan_; }
  /// Makes it again with the numbers that only a run knows, which kernel.toml lists in `given`.
  void plan_memory(const std::map<std::string, double>& given) const;
  /// The same of a run with another value of one parameter.
  [[nodiscard]] MemoryPlan memory_plan_with(const std::string& parameter, Value value) const;
  /// The memory of the board, where a system says what it is.
  [[nodiscard]] const device::BoardMemory& board_memory() const { return conditions_.board_memory; }
  /// What lies in its banks so far.
  [[nodiscard]] const device::BankUse& bank_use() const { return *bank_use_; }
  /// Host memory for copies to and from the device, of the kind that is fastest there.
  template <typename T>
  [[nodiscard]] device::HostArray<T> host_array(std::size_t count) const {
    device::HostArray<T> array(device_, count);
    (array.is_pinned() ? host_memory_->is_pinned : host_memory_->is_pageable) = true;
    return array;
  }
  /// "pinned" or "pageable" where any array is; empty where there is none, or where there is no choice.
  [[nodiscard]] std::string host_memory() const {
    if (!device::wants_pinned_memory(device_.info())) return {};
    if (host_memory_->is_pageable) return "pageable";
    return host_memory_->is_pinned ? "pinned" : "";
  }
  /// Adds to the notes of the result what a reader should know of how this run was made.
  void remark(const std::string& text) const { remarks_->push_back(text); }
  [[nodiscard]] const std::vector<std::string>& remarks() const { return *remarks_; }
  /// Throws Error (bad use) when the host or the device has less memory than all ranks need, of the device
  /// by the plan and by `need`; `size_parameter`
  /// is the setting that the message tells to reduce, with the power `exponent` of which the need grows.
  void require_memory(const MemoryNeed& need, const std::string& size_parameter, double exponent = 1) const;

 private:
  [[nodiscard]] MemoryUser memory_user(const std::map<std::string, double>& given = {}) const;
  /// Throws Error (bad use) for a buffer of another length than kernel.toml says; of several ranks, for a
  /// longer one.
  void require_planned(std::size_t bytes, const ArgumentPlace& place) const;

  const device::Device& device_;
  const Parameters& parameters_;
  Communicator& ranks_;
  device::Timeline& timeline_;
  device::Program program_;
  const VariantSpec& variant_;
  RunConditions conditions_;
  struct HostMemoryUse {
    bool is_pinned = false;
    bool is_pageable = false;
  };
  std::shared_ptr<HostMemoryUse> host_memory_ = std::make_shared<HostMemoryUse>();  ///< of all arrays
  std::shared_ptr<MemoryPlan> memory_plan_;
  std::shared_ptr<device::BankUse> bank_use_;
  std::shared_ptr<std::vector<std::string>> remarks_ = std::make_shared<std::vector<std::string>>();
};

/// One benchmark on one rank. The runtime owns repetition, warm-up, barriers, statistics, files and exit
/// codes.
class Benchmark : public Interface {
 public:
  /// What is the same in all repetitions; once, not timed.
  virtual void generate() {}
  /// Before each repetition (negative in the warm-up), not timed: makes inputs that no other repetition has,
  /// and poisons outputs and scratch memory, so that a kernel that keeps an earlier result is found.
  virtual void prepare(int repetition) = 0;
  /// One repetition: its timed parts go through `laps`.
  virtual void execute(Laps& laps) = 0;
  /// Makes the results of the last repetition wrong on purpose. Throws Error (bad use) for an unknown target.
  virtual void inject(const Fault& fault);
  /// Checks the results of the repetition before, after each counted one; at least one verdict. Cheaper than
  /// validate() where that takes much longer than the repetition, but any wrong part of a result must show.
  virtual std::vector<Verdict> validate_repetition() { return validate(); }
  /// Checks the results of the last repetition in full; at least one verdict.
  virtual std::vector<Verdict> validate() = 0;
  [[nodiscard]] virtual std::vector<Metric> metrics() const = 0;
  /// Metrics of several timed parts; `laps` holds those of all ranks by name. Called on every rank.
  [[nodiscard]] virtual std::vector<DerivedMetric> derive(
      const std::map<std::string, LapSeconds>& laps) const;
  /// Remarks that a reader of the results needs.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace fabricmark::runtime
