#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "base/random_bits.hpp"
#include "device/element.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::runtime {

/// All numbers of an application's state on this rank.
using StepState = std::vector<double>;

/// How far a state is from another one, relative to its largest values.
struct StepError {
  double error = 0;
  std::optional<WorstPlace> worst{};
};

/// Which of a rank's items a check looks at: a share of them from a place on, round the end. Both between 0
/// and 1.
struct StepPart {
  double start = 0;
  double share = 1;
};

/// An application that steps in time, as the check of its steps needs it. All but errors are of this rank;
/// all calls are collective.
class Stepping : public Interface {
 public:
  /// `data_type`: of the numbers on the device.
  explicit Stepping(const std::string& data_type) : epsilon_(device::epsilon_of(data_type)) {}

  /// Steps of the timed run up to this one, with what it writes beside its result. Returns when they are
  /// done.
  virtual void advance(std::int64_t to) = 0;
  /// The state on the device, into memory that need not be new: the first touch of gigabytes takes longer
  /// than their way from the device.
  virtual void read(StepState& state) = 0;
  /// Puts a state, which is that before `step`, on the device. `bits`: drawn, the same on all ranks.
  virtual void restore(const StepState& state, std::int64_t step, std::uint64_t bits) = 0;
  /// Steps on the device, from one to another, of which nothing is written.
  virtual void run_again(std::int64_t from, std::int64_t to) = 0;
  /// How far `after` is from what the host makes of `before` in one step, by a program of its own.
  virtual StepError recompute(std::int64_t step, const StepState& before, const StepState& after,
                              const StepPart& part) = 0;
  /// How far two states are from each other.
  virtual StepError compare(const StepState& expected, const StepState& actual) = 0;
  /// Rounding of one number of the device.
  [[nodiscard]] double epsilon() const { return epsilon_; }
  /// What the host computes for a step of all ranks [FLOP].
  [[nodiscard]] virtual double work_of_step() const = 0;

 private:
  double epsilon_;
};

/// To kernels steps have numbers that are larger by this, so that they cannot know where a run of so many
/// steps begins or ends; a multiple of the phases of a step. `bits`: drawn, the same on all ranks.
std::uint32_t drawn_offset(std::uint64_t bits, std::int64_t steps, int phases = 1);

/// The steps of a repetition, and how many of them the host is to compute again.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t recomputed = 0;
};

/// Where a repetition is looked at. Steps have the number of the state that they begin with.
struct DrawnSteps {
  std::vector<std::int64_t> recomputed;  ///< ascending; the last step is always one of them
  std::vector<std::int64_t> pauses;      ///< inside of the timed run: its state there is kept
  /// The whole run is done again, with stops wherever the host wants a state; else it stops around each of
  /// the steps that are recomputed, which in a long run are few.
  bool is_run_again = false;
};

/// One step of each of as many equal stretches as are to be recomputed, anywhere in it: a kernel cannot know
/// which, and no stretch is left out.
DrawnSteps draw_steps(const StepRange& range, std::uint64_t seed);

/// How much the host computes again: so many steps of all repetitions, in a share of their items.
struct StepShare {
  std::int64_t steps = 0;
  double part = 1;
};

/// All where that is cheap; else so many that faults in a twentieth of them are missed once in 19000 runs.
/// `work`: of a step [FLOP], by so many threads.
StepShare share_of(std::int64_t steps, double work, int threads);

/// The check of an application that steps in time: in each repetition that counts, any of its steps may be
/// one that the host computes again, and what the others did shows in the state at which the timed run, at a
/// place that nobody knows, and the same steps run again arrive. Where, is drawn when the run begins, or by
/// FABRICMARK_SEED.
class StepWindows {
 public:
  /// `count` steps from `first` on in each of so many repetitions. Collective, as all others.
  StepWindows(Communicator& ranks, Stepping& application, int repetitions, std::int64_t first,
              std::int64_t count);

  /// The timed region `name` of a repetition.
  void run(TimedRegions& regions, const std::string& name, int repetition);
  /// Another state at the end of that run than it had: a fault.
  void replace_end(StepState state);
  /// What is wrong with the steps of the last run; done once for each.
  const std::vector<Verdict>& check();
  /// Other bits at each call, the same on all ranks.
  std::uint64_t bits() { return draw_ = mixed_bits(draw_ + kRandomStep); }
  /// How many of the steps that counted were computed again.
  [[nodiscard]] std::string note() const;

 private:
  /// A state of the timed run.
  struct Kept {
    std::int64_t step = 0;
    StepState state;
  };
  [[nodiscard]] StepRange range_of_repetition() const;
  /// The steps between two states that follow each other, on the device once more.
  void check_again(const Kept& from, const Kept& to);
  void keep(std::int64_t step);
  void recompute(std::int64_t step, const StepState& before, const StepState& after);
  /// What is kept of steps that are to be recomputed.
  void recompute_kept();

  Communicator& ranks_;
  Stepping& application_;
  std::int64_t first_;
  std::int64_t count_;
  int repetitions_;
  std::uint64_t seed_ = 0;
  StepShare share_;
  DrawnSteps drawn_;
  std::vector<Kept> kept_;  ///< of the run in progress, ascending
  std::size_t most_kept_ = 0;
  std::uint64_t draw_ = 0;  ///< of `bits`
  Verdict steps_, again_;
  std::vector<Verdict> verdicts_;
  bool is_checked_ = true;
  std::int64_t recomputed_ = 0;  ///< of all repetitions that counted
  std::int64_t counted_ = 0;
};

/// Bits that differ from run to run and that all ranks have; those of FABRICMARK_SEED where it is set. Throws
/// Error (bad use) where that is no number. Collective.
std::uint64_t drawn_seed(Communicator& ranks);

}  // namespace fabricmark::runtime
