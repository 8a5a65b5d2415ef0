#pragma once

#include <string>

namespace fabricmark {

/// Version of the project, such as "0.1.0".
std::string version();
/// State of the sources at the build, such as "4f2a9c1" or "4f2a9c1-dirty"; "unknown" outside git.
std::string git_state();
/// Compiler and kind of build, such as "g++ 12.2.0" and "Release".
std::string compiler();
std::string build_type();

}  // namespace fabricmark
