// Counters of energy of the processor and its memory, by Linux's powercap interface
// (Documentation/power/powercap/powercap.rst of the kernel). Intel and AMD processors both show as
// intel-rapl.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "power/source.hpp"
#include "power/sysfs.hpp"

namespace fabricmark::power {

namespace fs = std::filesystem;

namespace {

/// Packages and their memory. Not "core" and "uncore", which are parts of a package, nor "psys", which holds
/// packages: what is reported can be added up. Empty: not one of these.
std::string domain_name(const fs::path& zone) {
  std::string name = read_line(zone / "name").value_or("");
  if (name.starts_with("package-")) return name;
  if (name != "dram") return {};
  // "intel-rapl:0:2" lies in "intel-rapl:0", whose name says which package it is.
  const std::string folder = zone.filename().string();
  const fs::path parent = zone.parent_path() / folder.substr(0, folder.rfind(':'));
  const std::string package = read_line(parent / "name").value_or("");
  return package.starts_with("package-") ? "dram-" + package.substr(std::strlen("package-"))
                                         : "dram-" + folder;
}

/// Many kernels let only root read the counters, since they betray what others compute (CVE-2020-8694).
bool is_forbidden(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno == EACCES;
  close(descriptor);
  return false;
}

}  // namespace

Source open_rapl() {
  constexpr double kUpdateSeconds = 1e-3;
  Source source{"rapl", kUpdateSeconds};
  std::string hidden;
  for (const fs::path& zone : entries_of(folder_from("FABRICMARK_POWERCAP", "/sys/class/powercap"))) {
    // "intel-rapl-mmio:0" shows the same counter as "intel-rapl:0".
    if (!zone.filename().string().starts_with("intel-rapl:")) continue;
    const std::string name = domain_name(zone);
    if (name.empty()) continue;
    const fs::path file = zone / "energy_uj";
    if (is_forbidden(file)) hidden += (hidden.empty() ? "" : ", ") + name;
    if (!read_number(file, kMicro)) continue;
    const double wrap = read_number(zone / "max_energy_range_uj", kMicro).value_or(0);
    source.domains.push_back({name, Quantity::kEnergy, wrap, [file] { return read_number(file, kMicro); }});
  }
  if (!hidden.empty()) {
    source.notes.push_back("power: rapl has " + hidden +
                           ", but only root may read them here; let an administrator allow it "
                           "(chmod a+r on energy_uj), or name another source with --power");
  }
  return source;
}

}  // namespace fabricmark::power
