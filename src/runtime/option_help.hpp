#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// Groups of `--help`, in the order in which it shows them.
inline constexpr const char* kProblemGroup = "Problem and kernel parameters";
inline constexpr const char* kTransportGroup = "Transport and ranks";

/// Whether every benchmark's program has an option of this name.
bool is_common_option(const std::string& name);

/// Has the help show a plain "N" or "X" for numbers, with their ranges behind what they mean, and for texts
/// what they are.
void simplify_values(CLI::App& app);

/// Puts each option of a benchmark's program into its group of `--help`, and names its value by what it is.
void arrange_help(CLI::App& app, const KernelSpec& spec);

}  // namespace fabricmark::runtime
