// fm_calibrate: the limits of this machine that models and efficiencies refer to, each the best of several
// passes. Measures what the host's memory, caches and arithmetic do, and of one device how long a launch
// takes, how fast copies go, what its memory and caches move, how many operations it does and how many random
// updates.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/stack_room.hpp"
#include "calibrate/document.hpp"
#include "runtime/agreement.hpp"
#include "runtime/option_help.hpp"
#include "runtime/result.hpp"

namespace {

constexpr int kPasses = 3;  // neighbours on a shared machine slow some of them down

int calibrate(int argc, char** argv) {
  fabricmark::occupy_closed_streams();
  CLI::App app("Measures the limits that models and efficiencies refer to");
  std::string platform;
  std::string device;
  std::string file = "-";
  int passes = kPasses;
  std::vector<std::string> parts;
  app.add_option("--platform", platform, "OpenCL platform: index or part of its name");
  app.add_option("--device", device, "device: index or part of its name");
  app.add_option("--passes", passes, "passes over all measurements; the best of each counts")
      ->check(CLI::Range(1, 1000));
  app.add_option("--only", parts,
                 fmt::format("measure this part alone: {}; may be given several times",
                             fmt::join(fabricmark::calibrate::part_names(), ", ")))
      ->check(CLI::IsMember(fabricmark::calibrate::part_names()));
  bool lists_devices = false;
  app.add_flag("--list-devices", lists_devices, "list the devices as JSON, and measure nothing");
  app.add_option("--json", file, "file to write, - for standard output");
  fabricmark::runtime::simplify_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    std::cerr << "fm_calibrate: error: " << error.what() << "; see fm_calibrate --help" << '\n';
    return static_cast<int>(fabricmark::ExitCode::kBadUse);
  }
  fabricmark::device::Selection selection;
  if (!platform.empty()) selection.platform = platform;
  if (!device.empty()) selection.device = device;
  const auto failure = fabricmark::runtime::attempt([&] {
    const std::string text =
        lists_devices ? fabricmark::runtime::devices_json(fabricmark::device::require_devices(selection))
                      : fabricmark::calibrate::document(selection, parts, passes);
    file == "-" ? fabricmark::write_standard_output(text) : fabricmark::write_atomically(file, text);
  });
  if (!failure) return static_cast<int>(fabricmark::ExitCode::kValid);
  std::cerr << "fm_calibrate: error: " << failure->message << '\n';
  return static_cast<int>(failure->code);
}

}  // namespace

int main(int argc, char** argv) {
  return fabricmark::with_room_on_stack([&] { return calibrate(argc, argv); });
}
