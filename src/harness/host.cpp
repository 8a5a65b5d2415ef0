#include "harness/host.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <limits>
#include <thread>

namespace fabricmark::harness {

namespace {

/// What follows `key` and its separator in the first line of `file` that starts with it; empty where there is
/// none.
std::string value_of(const char* file, const std::string& key, char separator) {
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

std::uint64_t memory_line(const std::string& key) {
  constexpr std::uint64_t kKibibyte = 1024;
  const std::string text = value_of("/proc/meminfo", key, ':');
  return text.empty() ? 0 : std::stoull(text) * kKibibyte;
}

}  // namespace

Host describe_host() {
  Host host;
  utsname names{};
  if (uname(&names) == 0) {
    host.name = names.nodename;
    host.kernel = std::string(names.sysname) + " " + names.release;
  }
  host.cpu = value_of("/proc/cpuinfo", "model name", ':');
  host.logical_cores = static_cast<int>(std::thread::hardware_concurrency());
  host.memory_bytes = memory_line("MemTotal");
  host.operating_system = value_of("/etc/os-release", "PRETTY_NAME", '=');
  return host;
}

std::uint64_t available_memory_bytes() {
  const std::uint64_t bytes = memory_line("MemAvailable");
  return bytes > 0 ? bytes : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<std::uint64_t>(bytes);
  }
  return 0;
}

double last_cache_bytes(const device::DeviceInfo& info) {
  const bool is_host = info.device_class == device::DeviceClass::kCpu || info.emulated();
  return static_cast<double>(is_host ? last_level_cache_bytes() : info.cache_bytes);
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

}  // namespace fabricmark::harness
