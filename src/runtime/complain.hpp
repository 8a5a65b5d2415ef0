#pragma once

#include <string>

namespace fabricmark::runtime {

/// Prints the one line of a failure on standard error; line breaks in it become spaces.
void complain(const std::string& program, std::string message);

}  // namespace fabricmark::runtime
