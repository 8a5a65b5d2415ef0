// The list of sources: a new one is a file in this folder, a declaration and a line here.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "power/source.hpp"

namespace fabricmark::power {

namespace {

struct Entry {
  const char* name;
  Source (*open)();
  bool adds_up;
};

constexpr std::array kEntries{
    Entry{"rapl", open_rapl, true}, Entry{"nvml", open_nvml, true}, Entry{"xrt", open_xrt, true},
    Entry{"hwmon", open_hwmon, false},  // a board, its inputs and its processor may each have a sensor
};
constexpr const char* kCommand = "command";

}  // namespace

std::string source_names() {
  std::string names = "off, auto";
  for (const Entry& entry : kEntries) names += std::string(", ") + entry.name;
  return names + ", " + kCommand;
}

bool adds_up(const std::string& source) {
  return std::ranges::none_of(kEntries,
                              [&](const Entry& entry) { return entry.name == source && !entry.adds_up; });
}

void check(const Settings& settings) {
  const bool is_known =
      settings.source == "off" || settings.source == "auto" || settings.source == kCommand ||
      std::ranges::any_of(kEntries, [&](const Entry& entry) { return settings.source == entry.name; });
  if (!is_known) {
    throw bad_use("--power '" + settings.source + "' is unknown", "use one of " + source_names());
  }
  if (settings.source == "off" && !settings.command.empty()) {
    throw bad_use("--power off and --power-command exclude each other", "leave out one of them");
  }
  if (settings.source == kCommand && settings.command.empty()) {
    throw bad_use("--power command has no command", "give --power-command 'PROGRAM WORDS'");
  }
}

std::vector<Source> open_sources(const Settings& settings) {
  check(settings);
  std::vector<Source> found;
  for (const Entry& entry : kEntries) {
    if (settings.source != "auto" && settings.source != entry.name) continue;
    Source source = entry.open();
    if (source.domains.empty() && source.notes.empty() && settings.source != "auto") {
      source.notes.push_back(
          fmt::format("power: {} was asked for, but this host has nothing for it to read", entry.name));
    }
    if (!source.domains.empty() || !source.notes.empty()) found.push_back(std::move(source));
  }
  if (!settings.command.empty()) found.push_back(open_command(settings.command));
  return found;
}

}  // namespace fabricmark::power
