#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fabricmark::power {

/// What the command line says of power.
struct Settings {
  std::string source = "auto";  ///< "off", "auto" (all that can be read) or the name of one source
  int interval_ms = 100;        ///< between two samples; Meyer 2024, section 3.3.4
  std::string command;          ///< prints watts; empty: none
};

/// A counter of energy that only grows (and wraps), or the power of this moment.
enum class Quantity { kEnergy, kPower };

/// One part of a host whose power or energy can be read.
struct Domain {
  std::string name;  ///< unique within its source, such as "package-0"
  Quantity quantity = Quantity::kPower;
  double wrap_joules = 0;  ///< where a counter starts again at 0; 0: it does not
  /// Joules of a counter, or watts; nothing when it cannot be read now. Called by one thread at a time.
  std::function<std::optional<double>()> read{};
};

/// One way to read power: a plug-in of this folder, one file each.
struct Source {
  std::string name;
  double update_seconds = 0;  ///< how often the hardware gives a new value
  std::vector<Domain> domains{};
  std::vector<std::string> notes{};  ///< what could not be read, and why
};

/// The plug-ins. Each finds its domains on this host, none where there are none, and may read them once.
Source open_rapl();
Source open_nvml();
Source open_xrt();
Source open_hwmon();
/// Runs the command once. Throws Error (bad use) when it cannot be run or prints no number.
Source open_command(const std::string& command);

/// The sources on this host that the settings ask for, without empty ones that have nothing to say. Throws
/// Error (bad use) for the user's command.
std::vector<Source> open_sources(const Settings& settings);

/// Throws Error (bad use) for an unknown source and for options that contradict each other.
void check(const Settings& settings);

/// "off, auto, rapl, ...", for the help text.
std::string source_names();

/// True where the domains of a source are parts that do not overlap, so that their powers may be added.
bool adds_up(const std::string& source);

}  // namespace fabricmark::power
