#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fabricmark::runtime {

/// What a host's kernel has counted up to now (proc(5); Documentation/accounting/psi.rst of Linux).
struct HostCounters {
  double seconds = 0;         ///< of a steady clock
  double own_seconds = 0;     ///< CPU time of this process and its ended children
  double busy_seconds = 0;    ///< of all CPUs
  double stolen_seconds = 0;  ///< of all CPUs, by other virtual machines
  int cpus = 0;               ///< 0: nothing could be read
  std::optional<double> memory_stall_seconds{};
  std::optional<double> swapped_bytes{};
  std::optional<double> throttled{};
};

/// As this host says now. `root` stands for /.
HostCounters read_host_counters(const std::filesystem::path& root);
/// Where the files of the host are: / or the folder that FABRICMARK_HOST_FILES names.
std::filesystem::path host_files();

/// What a rank's host did while the rank measured.
struct RankNoise {
  int process = 0;  ///< ranks of one process have their CPU time in common
  double seconds = 0;
  int cpus = 0;
  double own_seconds = 0;
  double busy_seconds = 0;
  double stolen_seconds = 0;
  std::optional<double> memory_stall_seconds{};
  std::optional<double> swapped_bytes{};
  std::optional<double> throttled{};
};
RankNoise between(const HostCounters& first, const HostCounters& last);

/// The same of a host, as result files have it. Shares are of its CPUs or of the time.
struct HostNoise {
  std::string host;
  double seconds = 0;
  int cpus = 0;
  double stolen = 0;
  std::optional<double> other_load{};  ///< none where a card's process has a part of the CPU time
  std::optional<double> memory_stalls{};
  std::optional<double> swapped_bytes{};
  std::optional<double> throttled{};
};
/// Of every host, in the order of its first rank; without those that measured too shortly for counters of
/// hundredths of a second. `hosts` and `are_emulated` are those of `ranks`.
std::vector<HostNoise> noise_of_hosts(std::span<const RankNoise> ranks, std::span<const std::string> hosts,
                                      const std::vector<bool>& are_emulated);

}  // namespace fabricmark::runtime
