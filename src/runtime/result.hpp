#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/terminal.hpp"
#include "device/device.hpp"
#include "device/program.hpp"
#include "device/replications.hpp"
#include "power/energy.hpp"
#include "runtime/activity.hpp"
#include "runtime/benchmark.hpp"
#include "runtime/host_noise.hpp"
#include "runtime/options.hpp"
#include "runtime/windows.hpp"

namespace fabricmark::runtime {

/// Everything about a run that a result file says, on the root rank. The format is
/// python/fabricmark/schemas/.
struct Result {
  std::string program;
  std::string benchmark;
  std::string variant;
  bool optimized = false;
  struct Kernel {
    std::string file;                            ///< name without its folder
    std::string digest;                          ///< of the source with its includes, or of the bitstream
    std::string origin;                          ///< "shipped", "file" (the user's source) or "bitstream"
    std::vector<device::SourceFile> files = {};  ///< that the source consists of, in their order
  };
  Kernel kernel;  ///< without a file where nothing was built
  /// Of a transport of kernels that is not the programs' own.
  struct Library {
    std::string file;
    std::string digest;  ///< of its content
  };
  std::optional<Library> library{};
  Design loaded;       ///< the bitstream that was loaded, as its sidecar says
  std::string system;  ///< that was named; empty: none
  Design design;       ///< of which board and bitstream there the run took the parameters
  std::string started;
  double duration_seconds = 0;
  struct Step {
    std::string name;
    double seconds = 0;
  };
  std::vector<Step> steps;  ///< of the run, in order, on the root
  std::vector<std::string> command;
  int exit_code = 0;

  std::string ranks_kind;
  std::string mpi_library;
  struct Placement {
    std::string host;
    std::string device;
    int device_index = 0;
    std::uint64_t compute_units = 0;
    bool is_emulated = false;  ///< the ranks of a run may be on different runtimes
    int platform_index = 0;
  };
  std::vector<Placement> placement;  ///< [rank]
  std::vector<HostNoise> noise;      ///< of each host while its ranks measured
  device::DeviceInfo device;

  Parameters parameters;
  int repetitions = 0;
  int warmup = 0;
  std::optional<double> min_time_seconds;
  std::optional<double> max_time_seconds;
  bool validated = true;

  std::vector<Metric> metrics;  ///< with the work of all ranks
  std::vector<DerivedMetric> derived;
  std::vector<std::string> region_names;
  using PerRank = runtime::PerRank;  ///< [rank][repetition]
  std::vector<PerRank> seconds;      ///< [region], by the wall clock
  /// [region], from the first rank's start, in the seconds of one where a sample is the mean of many in a
  /// row; empty regions, or none at all, where nobody knows.
  std::vector<PerRank> starts;
  std::vector<PerRank> modelled_seconds;  ///< [region]; empty where no rank simulated anything
  /// [region][rank][repetition][place]; empty for regions whose single times were not kept.
  std::vector<std::vector<PerRank>> inner_seconds;
  struct RankVerdict {
    Verdict verdict;
    int rank = 0;
  };
  std::vector<RankVerdict> verdicts;  ///< the worst rank's of each check
  struct RankTimes {
    device::KernelTimes times;
    int rank = 0;
  };
  std::vector<RankTimes> timeline;
  bool with_timeline = false;
  std::shared_ptr<const ActivityLog>
      activities;                     ///< of all ranks, in modelled time; null where none are kept
  std::vector<power::Energy> energy;  ///< over the counted repetitions; empty where nothing can be read
  std::vector<std::string> notes;
};

/// The kind of a metric that says none is that of the device's wall clock.
TimeKind kind_of(const Result& result, const std::optional<TimeKind>& own);

/// Throws Error (environment) where a metric says a kind of time that its part does not have: a modelled one
/// where nothing was simulated in some repetition, a measured one where the wall clock is an emulator's.
void check_kinds(const Result& result);

/// Throws Error (environment) where the work of several ranks is to be a rate of the wall clock, and nobody
/// knows whether they did it at the same time.
void check_windows(const Result& result);

/// One value of a metric per repetition, in its unit, of its kind of time: from the first rank's start to the
/// last one's end, as `spans`.
std::vector<double> values_of(const Result& result, const Metric& metric);

/// The largest or the smallest value, "best" by the metric's sense.
double best_of(const std::vector<double>& values, Better better);

std::string to_json(const Result& result);

/// The table that a person reads, for lines of `width` columns; names and numbers that are longer are left
/// whole.
std::string to_table(const Result& result, std::size_t width);
/// The same in one line: the verdict with how many checks there were, and the first metric.
std::string to_line(const Result& result);

/// `--list-devices` as a table and as JSON.
std::string devices_table(const std::vector<device::FoundDevice>& devices,
                          std::size_t width = terminal_width());
std::string devices_json(const std::vector<device::FoundDevice>& devices);

}  // namespace fabricmark::runtime
