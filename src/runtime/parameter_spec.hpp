#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/kernel_spec.hpp"
#include "runtime/toml_reader.hpp"

namespace fabricmark::runtime {

// What readers of kernel.toml share; `where` is the place in the file, for messages. All throw Error (bad
// use) with file, key and what is expected there.

/// A value for each device class, or "" and the one for all.
std::map<std::string, Value> class_values(const TomlReader& reader, const toml::node& node,
                                          const std::string& where);
/// A list of names, which must not be empty.
std::vector<std::string> read_names(const TomlReader& reader, const toml::table& table,
                                    const std::string& key, const std::string& where);
/// All parameters of a benchmark whose variants are known, with the options of the transports that these
/// name.
void read_parameters(const TomlReader& reader, const toml::table& parameters, KernelSpec& spec);

}  // namespace fabricmark::runtime
