// Any sensor of power that Linux's hwmon interface shows (Documentation/hwmon/sysfs-interface.rst of the
// kernel): power meters of ACPI, AMD GPUs, boards with their own sensors.
#include <algorithm>

#include "power/source.hpp"
#include "power/sysfs.hpp"

namespace fabricmark::power {

namespace fs = std::filesystem;

namespace {

/// Boards that the source xrt reads already.
bool is_xrt_board(const fs::path& chip) {
  const std::vector<fs::path> parts = entries_of(chip / "device");
  return std::ranges::any_of(
      parts, [](const fs::path& part) { return part.filename().string().starts_with("xmc."); });
}

/// The sensor's number when the file is `power<N><suffix>`; empty otherwise.
std::string sensor_number(const std::string& file, const std::string& suffix) {
  const std::string prefix = "power";
  if (!file.starts_with(prefix) || !file.ends_with(suffix)) return {};
  if (file.size() <= prefix.size() + suffix.size()) return {};
  const std::string number = file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
  return number.find_first_not_of("0123456789") == std::string::npos ? number : std::string();
}

void add_sensors(const fs::path& chip, Source& source) {
  const std::string name = read_line(chip / "name").value_or("unnamed") + "-" + chip.filename().string();
  std::vector<std::string> known;
  for (const char* suffix : {"_average", "_input"}) {
    for (const fs::path& file : entries_of(chip)) {
      const std::string number = sensor_number(file.filename().string(), suffix);
      if (number.empty() || std::ranges::find(known, number) != known.end()) continue;
      if (!read_number(file, kMicro)) continue;
      known.push_back(number);
      const std::string label = read_line(chip / ("power" + number + "_label")).value_or("power" + number);
      source.domains.push_back(
          {name + "-" + label, Quantity::kPower, 0, [file] { return read_number(file, kMicro); }});
    }
  }
}

}  // namespace

Source open_hwmon() {
  Source source{"hwmon"};
  for (const fs::path& chip : entries_of(folder_from("FABRICMARK_HWMON", "/sys/class/hwmon"))) {
    if (!is_xrt_board(chip)) add_sensors(chip, source);
  }
  return source;
}

}  // namespace fabricmark::power
