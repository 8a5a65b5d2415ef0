#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/interface.hpp"
#include "runtime/context.hpp"
#include "runtime/timed_regions.hpp"

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

/// How the samples of one timed region become a metric. With work, its value is work / seconds * scale (a
/// rate); without, seconds * scale (a time). The seconds are those of all ranks (`spans`).
struct Metric {
  std::string name;          ///< such as "bandwidth"
  std::vector<Axis> axes{};  ///< such as {"operation", "triad"} or {"message_bytes", 1024}
  std::string region;        ///< name of the timed region
  std::string unit;
  double scale = 1;
  Better better = Better::kHigher;
  double work = 0;  ///< of this rank; summed over the ranks
  std::string work_unit{};
  /// Of which time of its part: that of the wall clock (measured, or emulated on an emulator) where it says
  /// nothing; kModelled: what was simulated there.
  std::optional<TimeKind> kind{};
  /// What the only sample of each rank is of all iterations and ranks, such as "mean" or "P50"; empty:
  /// samples are those of the repetitions.
  std::string statistic{};
};

/// A rate in GB/s (1e9 bytes per second) of the timed region `operation`, which moves `bytes` on this rank.
inline Metric bandwidth(const std::string& operation, double bytes) {
  return {"bandwidth", {{"operation", operation}}, operation, "GB/s", 1e-9, Better::kHigher, bytes, "B"};
}

/// The same in GFLOP/s (1e9 operations per second) of a part of so many operations.
inline Metric performance(const std::string& operation, double flop) {
  return {"performance", {{"operation", operation}}, operation, "GFLOP/s", 1e-9, Better::kHigher, flop,
          "FLOP"};
}
/// And in millions of cells that make a step.
inline Metric cell_steps(const std::string& operation, double cells) {
  return {"cell_steps", {{"operation", operation}}, operation, "Mcell/s", 1e-6, Better::kHigher, cells,
          "cell steps"};
}
/// The time of a timed region; `per_second`: how many of the unit a second has.
inline Metric duration(std::string name, std::vector<Axis> axes, std::string region, std::string unit,
                       double per_second) {
  return {std::move(name),
          std::move(axes),
          std::move(region),
          std::move(unit),
          per_second,
          Better::kLower,
          0,
          {}};
}

/// Seconds of a timed region over all repetitions, in each from the first rank's start to the last one's end.
struct RegionSeconds {
  double best = 0;
  double median = 0;
  /// The same of what was simulated there; zero where nothing was.
  double modelled_best = 0;
  double modelled_median = 0;
};

/// A metric that is computed from several timed regions and has no samples of its own.
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

/// One benchmark on one rank. The runtime owns repetition, warm-up, barriers, statistics, files and exit
/// codes.
class Benchmark : public Interface {
 public:
  /// What is the same in all repetitions; once, not timed.
  virtual void generate() {}
  /// Before each repetition (negative in the warm-up), not timed: makes inputs that no other repetition has,
  /// and poisons outputs and scratch memory, so that a kernel that keeps an earlier result is found.
  virtual void prepare(int repetition) = 0;
  /// One repetition: its timed regions go through `regions`.
  virtual void execute(TimedRegions& regions) = 0;
  /// Makes the results of the last repetition wrong on purpose. Throws Error (bad use) for an unknown target.
  virtual void inject(const Fault& fault);
  /// Checks the results of the repetition before, after each counted one; at least one verdict. Cheaper than
  /// validate() where that takes much longer than the repetition, but any wrong part of a result must show.
  virtual std::vector<Verdict> validate_repetition() { return validate(); }
  /// Checks the results of the last repetition in full; at least one verdict.
  virtual std::vector<Verdict> validate() = 0;
  [[nodiscard]] virtual std::vector<Metric> metrics() const = 0;
  /// Metrics of several timed regions; `regions` holds those of all ranks by name. Called on every rank.
  [[nodiscard]] virtual std::vector<DerivedMetric> derive(
      const std::map<std::string, RegionSeconds>& regions) const;
  /// Remarks that a reader of the results needs.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace fabricmark::runtime
