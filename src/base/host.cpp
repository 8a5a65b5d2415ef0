#include "base/host.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <memory>
#include <vector>

#include "base/control_groups.hpp"

namespace fabricmark {

namespace {

/// What follows `key` and its separator in the first line of `file` that starts with it; empty where there is
/// none.
std::string value_of(const std::string& file, const std::string& key, char separator) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with(key)) continue;
    const std::size_t start = line.find(separator);
    if (start == std::string::npos) continue;
    std::string value = line.substr(start + 1);
    const auto is_decoration = [](char c) { return c == ' ' || c == '\t' || c == '"'; };
    while (!value.empty() && is_decoration(value.front())) value.erase(0, 1);
    while (!value.empty() && is_decoration(value.back())) value.pop_back();
    return value;
  }
  return {};
}

/// The machine as hwloc sees it, with cores that this process may not use.
class Topology {
 public:
  Topology() {
    hwloc_topology_init(&handle_);
    hwloc_topology_set_flags(handle_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    is_loaded_ = hwloc_topology_load(handle_) == 0;
  }
  ~Topology() { hwloc_topology_destroy(handle_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] hwloc_topology_t handle() const { return handle_; }
  [[nodiscard]] bool is_loaded() const { return is_loaded_; }
  [[nodiscard]] int count(hwloc_obj_type_t type) const {
    return is_loaded_ ? std::max(hwloc_get_nbobjs_by_type(handle_, type), 0) : 0;
  }

 private:
  hwloc_topology_t handle_ = nullptr;
  bool is_loaded_ = false;
};

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bits) const { hwloc_bitmap_free(bits); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap usable_units(const Topology& topology) {
  Bitmap units(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology.handle(), units.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(units.get(), hwloc_topology_get_allowed_cpuset(topology.handle()));
  }
  return units;
}

std::uint64_t credible_bytes(const Topology& topology, hwloc_obj_t cache) {
  constexpr std::uint64_t kMostBytesPerCore = std::uint64_t{32} << 20;
  const int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology.handle(), cache->cpuset, HWLOC_OBJ_CORE);
  return std::min<std::uint64_t>(cache->attr->cache.size,
                                 static_cast<std::uint64_t>(std::max(cores, 1)) * kMostBytesPerCore);
}

std::string processor_name(const Topology& topology) {
  if (topology.count(HWLOC_OBJ_PACKAGE) == 0) return {};
  hwloc_obj_t package = hwloc_get_obj_by_type(topology.handle(), HWLOC_OBJ_PACKAGE, 0);
  const char* const name = hwloc_obj_get_info_by_name(package, "CPUModel");
  std::string text = name != nullptr ? name : "";
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// Of a file of /proc whose lines are such as "MemAvailable:  2048 kB"; 0 where it has no such line.
std::uint64_t memory_line(const std::string& file, const std::string& key) {
  constexpr std::uint64_t kKibibyte = 1024;
  const std::string text = value_of(file, key, ':');
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 10) * kKibibyte;
}

/// Processors in the mask of this process, of which a machine may have more than a cpu_set_t holds.
int processors_in_mask() {
  constexpr int kMost = 1 << 16;
  for (int most = CPU_SETSIZE; most <= kMost; most *= 2) {
    std::vector<cpu_set_t> mask(static_cast<std::size_t>(most / CPU_SETSIZE));
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
    if (errno != EINVAL) break;
  }
  return 1;
}

/// Narrows `room` to what a limit of the process leaves of what it has taken so far.
void limit_by(MemoryRoom& room, int resource, const char* name, const char* taken) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return;
  const std::uint64_t left =
      limit.rlim_cur - std::min(limit.rlim_cur, memory_line("/proc/self/status", taken));
  if (left < room.bytes) room = {left, fmt::format("in this process under its limit {} (ulimit)", name)};
}

Host read_host() {
  Host host;
  utsname names{};
  if (uname(&names) == 0) {
    host.name = names.nodename;
    host.kernel = std::string(names.sysname) + " " + names.release;
  }
  const Topology topology;
  host.cpu = processor_name(topology);
  host.sockets = std::max(topology.count(HWLOC_OBJ_PACKAGE), 1);
  host.numa_nodes = std::max(topology.count(HWLOC_OBJ_NUMANODE), 1);
  host.logical_cores = std::max(topology.count(HWLOC_OBJ_PU), 1);
  if (topology.is_loaded()) host.memory_bytes = hwloc_get_root_obj(topology.handle())->total_memory;
  host.last_level_cache_bytes = last_level_cache_bytes();
  host.operating_system = value_of("/etc/os-release", "PRETTY_NAME", '=');
  return host;
}

}  // namespace

const Host& describe_host() {
  static const Host host = read_host();
  return host;
}

std::string hwloc_version() { return FABRICMARK_HWLOC_VERSION; }

MemoryRoom host_memory_room(const std::string& root) {
  const std::uint64_t bytes = memory_line(root + "/proc/meminfo", "MemAvailable");
  MemoryRoom room{bytes > 0 ? bytes : std::numeric_limits<std::uint64_t>::max(), "on the host"};
  const ControlGroups groups = control_groups(root);
  if (groups.free_bytes < room.bytes)
    room = {groups.free_bytes, fmt::format("in the control group {}", groups.memory_group)};
  return room;
}

MemoryRoom address_room() {
  MemoryRoom room{std::numeric_limits<std::uint64_t>::max(), "in this process"};
  limit_by(room, RLIMIT_AS, "RLIMIT_AS", "VmSize");
  limit_by(room, RLIMIT_DATA, "RLIMIT_DATA", "VmData");
  return room;
}

std::uint64_t available_memory_bytes() { return std::min(host_memory_room().bytes, address_room().bytes); }

std::uint64_t last_level_cache_bytes() {
  const Topology topology;
  if (!topology.is_loaded()) return 0;
  const Bitmap units = usable_units(topology);
  for (const hwloc_obj_type_t level :
       {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE}) {
    std::uint64_t bytes = 0;
    for (int i = 0; i < topology.count(level); ++i) {
      hwloc_obj_t cache = hwloc_get_obj_by_type(topology.handle(), level, static_cast<unsigned>(i));
      if (hwloc_bitmap_intersects(cache->cpuset, units.get()) != 0) bytes += credible_bytes(topology, cache);
    }
    if (bytes > 0) return bytes;
  }
  return 0;
}

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? value : "";
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream lines(file);
  std::string line;
  std::getline(lines, line);
  return line;
}

std::string time_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  constexpr long kNanosecondsPerMicrosecond = 1000;
  return fmt::format("{}.{:06}Z", text, now.tv_nsec / kNanosecondsPerMicrosecond);
}

int usable_cores() {
  static const double quota = control_groups().cpus;
  const int cores = std::max(1, processors_in_mask());
  return quota > 0 ? std::min(cores, std::max(1, static_cast<int>(std::ceil(quota)))) : cores;
}

std::vector<int> usable_cpus() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return {};
  std::vector<int> numbers;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) numbers.push_back(core);
  }
  return numbers;
}

int machine_cores() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_CONF))); }

}  // namespace fabricmark
