#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricmark::microbench {

/// What `fabricmark` has to know of a micro-benchmark fm_<name> before it starts it.
struct Description {
  std::string name;
  std::string summary;
  /// Words of its part in the short set, which the reader's own may follow; empty: it has none.
  std::vector<std::string> short_words{};
};

/// An option, as --help has it.
struct OptionText {
  std::string names;
  std::string meaning;
};
/// All of a program but --help and --version.
std::vector<OptionText> option_texts(const CLI::App& app);

/// Answers `--describe FILE`, which the build asks each program of this room that `fabricmark run` starts:
/// writes the programs that it is, the ranks that they have without --ranks, and their options. Returns the
/// exit code; a failure is printed.
int describe(std::string_view program, const std::string& file, const std::vector<Description>& programs,
             int usual_ranks, const std::vector<OptionText>& options);

/// Takes --plan out of a command line; whether it was there.
bool take_plan(std::vector<std::string>& command);
/// Answers --plan: `takes_device` reads the command line, may throw Error, and says whether a run with it
/// works on a device. Prints that or the error, as JSON; returns the exit code.
int answer_plan(const std::function<bool()>& takes_device);

}  // namespace fabricmark::microbench
