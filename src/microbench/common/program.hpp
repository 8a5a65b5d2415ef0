#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "device/device.hpp"
#include "runtime/run.hpp"

namespace fabricmark::microbench {

/// What the command line of a program of this room got wrong, in one line.
Error explained(const CLI::App& app, const CLI::ParseError& error);
/// Reads a command line; what --help or --version asks to be printed instead, else nothing. Throws Error (bad
/// use).
std::string text_or_parsed(CLI::App& app, const std::vector<std::string>& arguments);

/// --platform and --device.
void add_selection(CLI::App& app, device::Selection& selection);

/// "64", "4KiB", "1MiB", up to 4 GiB [bytes]. Throws Error (bad use).
std::size_t bytes_of_text(std::string_view text);
/// "64:1MiB", "4096" or "1KiB:64KiB": smallest and largest [bytes]. Throws Error (bad use).
std::pair<std::size_t, std::size_t> sizes_of(const std::string& text);

/// Runs `body` on all ranks with the options that `parse` finds, on `Options::ranks` where no launcher says
/// how many, or prints the text that it finds instead. What `parse` refuses all ranks do. `is_plain`: whether
/// a process of a launcher has one thread alone. Returns the exit code.
template <typename Options>
int run_command(int argc, char** argv, const std::function<std::variant<Options, std::string>()>& parse,
                const std::function<int(runtime::Communicator&, const Options&)>& body,
                const std::function<bool(const Options&)>& is_plain = {}) {
  std::variant<Options, std::string> parsed;
  std::optional<Error> refused;
  try {
    parsed = parse();
  } catch (const Error& error) {
    refused = error;
  }
  const auto* const options = refused ? nullptr : std::get_if<Options>(&parsed);
  const auto on_rank = [&](runtime::Communicator& ranks) {
    if (refused) throw Error(*refused);
    if (options != nullptr) return body(ranks, *options);
    if (ranks.is_root()) write_standard_output(std::get<std::string>(parsed));
    return static_cast<int>(ExitCode::kValid);
  };
  const bool has_one_thread = options != nullptr && is_plain && is_plain(*options);
  return runtime::run_ranks(argc, argv, options != nullptr ? options->ranks : 1, on_rank,
                            has_one_thread ? runtime::Threads::kOne : runtime::Threads::kSeveral);
}

}  // namespace fabricmark::microbench
