#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/kernel_spec.hpp"
#include "runtime/toml_reader.hpp"

namespace fabricmark::runtime {

/// The table of costs by entry point: lists of loops. Throws Error (bad use) with file and key.
void read_costs(const TomlReader& reader, const toml::table& all, const std::string& variant,
                VariantSpec& spec);

/// What formulas of an entry point's costs may name: its arguments that are numbers, the benchmark's
/// parameters that are, the bytes of an element of its data type, banks of the system, and the cycles of a
/// kernel between two loops over its local buffer.
std::vector<std::string> cost_names(const KernelSpec& spec, const VariantSpec& variant,
                                    const std::string& entry);

/// The time of a loop in seconds, as formulas: `cycles`, of the kernel, and `memory`, of its accesses, go on
/// side by side, `repeat` times; `seconds`, of all of them, names these two. Beside the above they name
/// values of a system. Whoever wants the time of a kernel evaluates these: programs here, the models of
/// python/ with arrays for numbers.
struct LoopTime {
  std::string repeat = "1";
  std::string cycles;
  std::string memory;
  std::string seconds;
  /// Values that are named. Where it has none: a number, or the name of another; empty: it has to have one.
  std::map<std::string, std::string> system;
};
LoopTime time_of(const LoopSpec& loop);

/// Throws Error (bad use) naming the file and the key of a formula that is none.
void check_costs(const KernelSpec& spec, const std::string& file);

}  // namespace fabricmark::runtime
