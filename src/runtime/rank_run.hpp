#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "device/program.hpp"
#include "power/sampler.hpp"
#include "runtime/agreement.hpp"
#include "runtime/execution.hpp"
#include "runtime/modelled_metrics.hpp"
#include "runtime/modelled_timeline.hpp"
#include "runtime/options.hpp"
#include "runtime/result.hpp"
#include "runtime/shared_clock.hpp"
#include "runtime/system_costs.hpp"

namespace fabricmark::runtime {

/// The check that nothing has written outside of the device's buffers, of all benchmarks.
inline constexpr const char* kGuardZones = "guard zones";

/// What all ranks of a run have in common.
struct RunSetup {
  std::string program_name;
  std::vector<std::string> command;
  KernelSpec spec;
  Options options;
  ExecutionTable executions;
};

/// One rank's way from the device to the result. Each step is taken by all ranks together.
class RankRun {
 public:
  RankRun(Communicator& ranks, const RunSetup& setup);

  /// Returns the exit code. Throws when this rank cannot go on, and PeerFailure when another one cannot.
  int execute();

 private:
  int execute_steps();
  /// Ends the step before it; `words` are what a person sees of it.
  void begin(const std::string& step, const std::string& words);
  void end_step();
  void open_device();
  void open_power();
  /// What was tuned for the device, where all ranks have the same. Collective.
  std::vector<TunedValues> agreed_values();
  void choose_parameters();
  /// Finds the code for the parameters. Throws Error (environment) where a device is needed and none is open.
  void choose_execution();
  /// Names the library of a transport outside of the sources. Throws Error (bad use) where it cannot be read.
  void note_library();
  [[nodiscard]] std::string memory_name() const;
  /// Whether its kernels or their messages run on an emulated fabric.
  [[nodiscard]] bool is_emulated() const;
  /// Whether its dataflow kernels are those of a bitstream, and no part of the program.
  [[nodiscard]] bool is_on_card() const;
  /// From here on what the device does is simulated, as a part of a system has it.
  void simulate(const SystemPlace& place);
  /// Those of which each has a simulated clock, where one is simulated.
  [[nodiscard]] Communicator& timed_ranks() { return simulated_ranks_ ? *simulated_ranks_ : ranks_; }
  [[nodiscard]] Asked resolved() const;
  /// Of the device, for the bitstream that it will be given.
  [[nodiscard]] device::Selection selection() const;
  device::Program build();
  /// Throws Error (bad use) where the user's kernels cannot be called as the suite's are.
  void check_signatures(const device::Program& own);
  /// Where its includes are looked up first: kernels that several benchmarks share include what each has.
  [[nodiscard]] std::filesystem::path folder_of_source(const std::filesystem::path& file) const;
  [[nodiscard]] device::BuiltProgram built_from(const std::filesystem::path& file) const;
  [[nodiscard]] bool is_sycl() const { return options_.language == "sycl"; }
  /// Throws Error (bad use) for a language that the kernels or the device do not have.
  void check_language();
  /// What stands before a kernel's source in its language.
  [[nodiscard]] std::string language_prelude() const;
  void repeat(TimedRegions& regions);
  /// Whether --max-time has passed since the first counted repetition began.
  [[nodiscard]] bool is_over(std::chrono::steady_clock::time_point started) const;
  void one_repetition(TimedRegions& regions, int repetition);
  [[nodiscard]] bool corrupts_results() const;
  [[nodiscard]] bool injects_here() const;
  void fail_in_step(const std::string& step) const;
  void keep_verdicts(std::vector<Verdict> found, int repetition);
  /// Whether anything has written outside of a buffer of the device.
  void check_guards(int repetition);
  void validate();
  void collect(const Samples& samples);
  void collect_modelled(const std::map<std::string, RegionSeconds>& regions, const Derive& derive);
  void collect_verdicts();
  void publish();

  Communicator& ranks_;
  const RunSetup& setup_;
  const Options& options_;
  Progress progress_;
  Result result_;
  std::chrono::steady_clock::time_point step_start_;
  std::int64_t fewest_cores_ = 1;  ///< that any rank's device has for it
  std::shared_ptr<SimulatedClock> clock_ = std::make_shared<SimulatedClock>();
  std::shared_ptr<const SystemCosts> costs_;                  ///< null: nothing is simulated
  std::shared_ptr<const device::CommandCosts> kernel_costs_;  ///< in that system
  std::optional<SystemPlace> place_;                          ///< in the system that is named
  device::BoardMemory board_memory_;                          ///< of an FPGA there
  std::unique_ptr<Communicator> simulated_ranks_;
  std::optional<device::Device> device_;
  Parameters parameters_;
  KernelSpec spec_;                       ///< for the device and the variant
  const VariantSpec* variant_ = nullptr;  ///< in it
  device::Replicas replicas_ = device::Replicas::kOneEntry;
  const ExecutionEntry* execution_ = nullptr;
  std::filesystem::path kernel_source_;  ///< empty where a bitstream is loaded
  std::filesystem::path bitstream_;
  std::vector<std::string> remarks_;  ///< for the notes: where parameters are from, the user's kernels
  SharedClock shared_clock_;
  device::Timeline timeline_;
  std::optional<ModelledTimeline> modelled_timeline_;
  std::optional<Context> context_;
  std::unique_ptr<Benchmark> benchmark_;
  std::optional<power::Sampler> sampler_;      ///< on one rank of a host
  RankNoise noise_;                            ///< of this rank's host while it measured
  power::Reading power_;                       ///< of this host, when sampler_ has stopped
  int repetition_ = 0;                         ///< the one in progress; negative in the warm-up
  std::vector<Result::RankVerdict> verdicts_;  ///< of this rank, the worst of all repetitions
};

}  // namespace fabricmark::runtime
