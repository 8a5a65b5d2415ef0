#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

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

}  // namespace fabricmark::microbench
