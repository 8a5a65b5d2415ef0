#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support.hpp"

namespace fabricmark::test {

/// An environment variable as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// No source of this machine: all folders are empty and there is no library.
struct Nothing {
  TemporaryFolder folder;
  Variable powercap{"FABRICMARK_POWERCAP", folder.path() / "powercap"};
  Variable hwmon{"FABRICMARK_HWMON", folder.path() / "hwmon"};
  Variable xrt{"FABRICMARK_XRT", folder.path() / "xocl"};
  Variable nvml{"FABRICMARK_NVML", folder.path() / "libnothing.so"};

  void zone(const std::string& name, const std::string& domain, const std::string& energy) const {
    write("powercap/" + name + "/name", domain + "\n");
    write("powercap/" + name + "/energy_uj", energy);
    write("powercap/" + name + "/max_energy_range_uj", "262143328850\n");
  }
  /// Renamed into place, as a reader must never see half a number.
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::rename(folder.write(name + ".new", content), folder.path() / name);
  }
};

}  // namespace fabricmark::test
