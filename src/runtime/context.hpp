#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "device/memory.hpp"
#include "device/replications.hpp"
#include "runtime/communicator.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/memory_plan.hpp"
#include "runtime/parameters.hpp"
#include "runtime/run_conditions.hpp"

namespace fabricmark::runtime {

/// Bytes that a benchmark needs on this rank, to be refused early when there are not so many; of the device
/// only where kernel.toml does not say all of it.
struct MemoryNeed {
  double host_bytes = 0;
  double device_bytes = 0;
  double largest_buffer_bytes = 0;
  const MemoryPlan* plan = nullptr;  ///< of a smaller problem; null: that of the run
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
  /// The kernels, built or of a bitstream; null for those that are a part of the program.
  [[nodiscard]] const device::Program& program() const { return program_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] Communicator& ranks() const { return ranks_; }
  [[nodiscard]] const std::string& variant() const { return variant_.name; }
  /// What modelled time of the variant's kernels goes to, in words: of the table `phases` of kernel.toml.
  [[nodiscard]] const std::string& phase(const std::string& name) const { return variant_.phases.at(name); }
  /// The fault that the user plants: of results and messages, to be made by the benchmark or its transport.
  [[nodiscard]] const std::optional<Fault>& fault() const { return conditions_.fault; }
  /// The same where it is due: on this rank, in the repetition in progress.
  [[nodiscard]] std::optional<Fault> due_fault() const;
  /// Of the counted repetitions, negative in the warm-up; null: none is counted.
  [[nodiscard]] const int* repetition() const { return conditions_.repetition; }
  /// That are to count; --min-time may bring more.
  [[nodiscard]] int repetitions() const { return conditions_.repetitions; }
  /// How long a rank waits for a message.
  [[nodiscard]] double timeout_seconds() const { return conditions_.timeout_seconds; }
  /// What --memory asks for.
  [[nodiscard]] device::MemoryKind memory_kind() const { return conditions_.memory; }
  /// The part of a described system that the run is on; absent: of none.
  [[nodiscard]] const std::optional<SystemPlace>& system() const { return conditions_.system; }
  /// Of what takes time in that system; null: nobody asks.
  [[nodiscard]] ModelledTimeline* modelled_timeline() const { return conditions_.modelled_timeline; }
  /// Where the times of kernels go, for what is not a kernel or what is made from them.
  [[nodiscard]] device::Timeline& timeline() const { return timeline_; }
  /// Whether anything is computed and moved: false on a dry-run device, where inputs are not made and results
  /// not looked at, so that sizes fit that no memory has room for.
  [[nodiscard]] bool computes() const { return !device_.info().is_dry_run; }
  /// What operations cost in a described system, from which they are simulated to the clock; null: nothing
  /// is.
  [[nodiscard]] const SystemCosts* costs() const { return conditions_.costs.get(); }
  /// What a kernel of the variant takes in that system, by the loops that kernel.toml declares, from the
  /// values of its arguments, all of them whole numbers. Throws Error (bad use) where nothing says.
  [[nodiscard]] double kernel_seconds(const std::string& entry,
                                      const std::vector<std::uint64_t>& arguments) const;
  /// The clock of this rank for what is modelled: what is simulated in a timed region is its modelled time.
  [[nodiscard]] SimulatedClock& simulated_clock() const { return *conditions_.clock; }

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

}  // namespace fabricmark::runtime
