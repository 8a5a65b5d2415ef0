#include "runtime/host_noise.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "base/host.hpp"
#include "base/number_from.hpp"

namespace fabricmark::runtime {

namespace {

constexpr double kLeastSeconds = 0.5;
constexpr std::size_t kFields = 8;  // of a line of /proc/stat; guests are in the first
constexpr std::size_t kIdle = 3;
constexpr std::size_t kWaiting = 4;
constexpr std::size_t kStolen = 7;

double cpu_seconds(int whose) {
  rusage used{};
  getrusage(whose, &used);
  constexpr double kMicroseconds = 1e6;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / kMicroseconds;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// The times of all CPUs; they stay 0 where a number is damaged.
void read_cpus(const std::filesystem::path& file, HostCounters& counters) {
  std::ifstream lines(file);
  std::string line;
  if (!std::getline(lines, line)) return;
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "cpu") return;
  std::vector<double> ticks;
  while (ticks.size() < kFields && words >> word) {
    const std::optional<double> number = number_from<double>(word);
    if (!number || !(*number >= 0)) return;
    ticks.push_back(*number);
  }
  if (ticks.size() < kFields) return;
  const auto hertz = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (std::size_t i = 0; i < kFields; ++i) {
    if (i != kIdle && i != kWaiting && i != kStolen) counters.busy_seconds += ticks[i] / hertz;
  }
  counters.stolen_seconds = ticks[kStolen] / hertz;
  while (std::getline(lines, line) && line.starts_with("cpu")) ++counters.cpus;
}

/// Of the line with this first word the last one, without what stands before its number.
std::optional<double> number_of(const std::filesystem::path& file, const std::string& first,
                                const std::string& before = "") {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with(first + ' ')) continue;
    const std::string word = line.substr(line.rfind(' ') + 1);
    if (!word.starts_with(before)) return std::nullopt;
    return number_from<double>(word.substr(before.size()));
  }
  return std::nullopt;
}

/// How often CPUs were throttled; nothing where no file tells.
std::optional<double> throttled_times(const std::filesystem::path& folder) {
  std::optional<double> sum;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (!entry.path().filename().string().starts_with("cpu")) continue;
    for (const char* name : {"core_throttle_count", "package_throttle_count"}) {
      const auto text = first_line(entry.path() / "thermal_throttle" / name);
      if (const auto number = number_from<double>(text)) sum = sum.value_or(0) + *number;
    }
  }
  return sum;
}

std::optional<double> difference(const std::optional<double>& first, const std::optional<double>& last) {
  if (!first || !last) return std::nullopt;
  return std::max(*last - *first, 0.0);
}

}  // namespace

std::filesystem::path host_files() {
  const std::string named = environment("FABRICMARK_HOST_FILES");
  return named.empty() ? "/" : named;
}

HostCounters read_host_counters(const std::filesystem::path& root) {
  HostCounters counters;
  counters.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  counters.own_seconds = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
  read_cpus(root / "proc/stat", counters);
  constexpr double kMicroseconds = 1e6;
  if (const auto stalled = number_of(root / "proc/pressure/memory", "some", "total=")) {
    counters.memory_stall_seconds = *stalled / kMicroseconds;
  }
  const auto in = number_of(root / "proc/vmstat", "pswpin");
  const auto out = number_of(root / "proc/vmstat", "pswpout");
  if (in && out) counters.swapped_bytes = (*in + *out) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  counters.throttled = throttled_times(root / "sys/devices/system/cpu");
  return counters;
}

RankNoise between(const HostCounters& first, const HostCounters& last) {
  return {.process = static_cast<int>(getpid()),
          .seconds = last.seconds - first.seconds,
          .cpus = first.cpus == last.cpus ? last.cpus : 0,
          .own_seconds = last.own_seconds - first.own_seconds,
          .busy_seconds = last.busy_seconds - first.busy_seconds,
          .stolen_seconds = last.stolen_seconds - first.stolen_seconds,
          .memory_stall_seconds = difference(first.memory_stall_seconds, last.memory_stall_seconds),
          .swapped_bytes = difference(first.swapped_bytes, last.swapped_bytes),
          .throttled = difference(first.throttled, last.throttled)};
}

std::vector<HostNoise> noise_of_hosts(std::span<const RankNoise> ranks, std::span<const std::string> hosts,
                                      const std::vector<bool>& are_emulated) {
  std::vector<HostNoise> found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankNoise& of_first = ranks[rank];
    const bool is_known =
        std::ranges::any_of(found, [&](const auto& one) { return one.host == hosts[rank]; });
    if (is_known || of_first.cpus <= 0 || of_first.seconds < kLeastSeconds) continue;
    std::map<int, double> own;  // by process
    bool with_cards = false;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (hosts[i] != hosts[rank]) continue;
      own[ranks[i].process] = ranks[i].own_seconds;
      with_cards = with_cards || are_emulated[i];
    }
    const double all = of_first.seconds * of_first.cpus;
    HostNoise noise{.host = hosts[rank],
                    .seconds = of_first.seconds,
                    .cpus = of_first.cpus,
                    .stolen = std::max(of_first.stolen_seconds, 0.0) / all,
                    .swapped_bytes = of_first.swapped_bytes,
                    .throttled = of_first.throttled};
    if (of_first.memory_stall_seconds)
      noise.memory_stalls = *of_first.memory_stall_seconds / of_first.seconds;
    double others = of_first.busy_seconds;
    for (const auto& [process, seconds] : own) others -= seconds;
    if (!with_cards) noise.other_load = std::max(others, 0.0) / all;
    found.push_back(noise);
  }
  return found;
}

}  // namespace fabricmark::runtime
