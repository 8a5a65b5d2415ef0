#pragma once

#include <string>
#include <vector>

#include "device/arguments.hpp"
#include "device/backend.hpp"

namespace fabricmark::device {

/// Compares a kernel of the suite, from the file `name`, with what kernel.toml declares of it. Throws Error
/// (bad use) for another number of arguments, and where the runtime keeps them for another name or type. A
/// program that lacks the kernel, as one for another device class may, is left alone.
void check_declared(const Program& program, const EntryPoint& entry, const std::string& name);

/// Compares a user's kernel `entry` of `own`, from the file `name`, with the suite's in `shipped`, from
/// `shipped_name`. Throws Error (bad use), which gives the expected signature, where it is missing, takes
/// another number of arguments, or a value in place of memory or of another size. What may be meant, such as
/// memory of another type, is returned as remarks.
std::vector<std::string> check_signature(const Program& own, const Program& shipped, const std::string& entry,
                                         const std::string& name, const std::string& shipped_name);

}  // namespace fabricmark::device
