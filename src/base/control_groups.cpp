#include "base/control_groups.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace fabricmark {

namespace {

namespace fs = std::filesystem;

/// Where groups of a kind are mounted, and which of them the mount shows as its root.
struct Mount {
  fs::path point;
  std::string shown;
  std::string options;  ///< of version 1: the controllers
  bool is_version_2 = false;
};

std::vector<std::string> words(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> found;
  for (std::string word; text >> word;) found.push_back(word);
  return found;
}

/// From lines such as "30 25 0:26 /shown /point rw shared:4 - cgroup2 cgroup2 rw,nsdelegate".
std::vector<Mount> mounts(const std::string& root) {
  std::vector<Mount> found;
  std::ifstream lines(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> all = words(line);
    const auto dash = std::ranges::find(all, "-");
    if (all.size() < 5 || all.end() - dash < 4) continue;
    const std::string& type = dash[1];
    if (type != "cgroup" && type != "cgroup2") continue;
    found.push_back({root + all[4], all[3], "," + dash[3] + ",", type == "cgroup2"});
  }
  return found;
}

bool has_controller(const std::string& list, const char* controller) {
  return list.find(std::string(",") + controller + ",") != std::string::npos;
}

/// The number that a file begins with; nothing where there is none, as in "max".
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  std::uint64_t number = 0;
  if (!(stream >> word)) return std::nullopt;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc{}) return std::nullopt;
  return number;
}

/// A value of a file with a name and a number in each line.
std::uint64_t named_number(const fs::path& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> all = words(line);
    if (all.size() == 2 && all[0] == name) return std::strtoull(all[1].c_str(), nullptr, 10);
  }
  return 0;
}

/// What a group still allows: files that were read can be thrown out of memory again.
void limit_memory(const fs::path& group, bool is_version_2, ControlGroups& found) {
  const auto most = number_in(group / (is_version_2 ? "memory.max" : "memory.limit_in_bytes"));
  const auto used = number_in(group / (is_version_2 ? "memory.current" : "memory.usage_in_bytes"));
  if (!most) return;
  const std::uint64_t files =
      named_number(group / "memory.stat", is_version_2 ? "inactive_file" : "total_inactive_file");
  const std::uint64_t held = used.value_or(0) - std::min(files, used.value_or(0));
  const std::uint64_t left = *most - std::min(held, *most);
  if (left >= found.free_bytes) return;
  found.free_bytes = left;
  found.memory_group = group.string();
}

/// Version 2 has "QUOTA PERIOD" in one file, version 1 a file each, with -1 for no quota.
void limit_cpus(const fs::path& group, bool is_version_2, ControlGroups& found) {
  double quota = 0;
  double period = 0;
  if (is_version_2) {
    std::ifstream(group / "cpu.max") >> quota >> period;
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return;
  const double cpus = quota / period;
  if (found.cpus == 0 || cpus < found.cpus) found.cpus = cpus;
}

/// The group's folder and those above it, up to the mount. In a container the group may be named as the host
/// names it, below folders that the mount does not show.
std::vector<fs::path> folders(const Mount& mount, std::string group) {
  if (mount.shown != "/" && group.starts_with(mount.shown)) group.erase(0, mount.shown.size());
  std::vector<fs::path> found;
  for (fs::path inner = fs::path(group).relative_path(); !inner.empty(); inner = inner.parent_path())
    found.push_back(mount.point / inner);
  found.push_back(mount.point);
  return found;
}

}  // namespace

ControlGroups control_groups(const std::string& root) {
  ControlGroups found;
  const std::vector<Mount> all = mounts(root);
  std::ifstream lines(root + "/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {  // such as "4:cpu,cpuacct:/group", or "0::/group"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_2 = controllers == ",,";
    for (const Mount& mount : all) {
      if (mount.is_version_2 != is_version_2) continue;
      const auto has = [&](const char* name) {
        return is_version_2 || (has_controller(controllers, name) && has_controller(mount.options, name));
      };
      for (const fs::path& group : folders(mount, line.substr(second + 1))) {
        if (has("memory")) limit_memory(group, is_version_2, found);
        if (has("cpu")) limit_cpus(group, is_version_2, found);
      }
    }
  }
  return found;
}

}  // namespace fabricmark
