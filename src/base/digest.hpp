#pragma once

#include <string>

namespace fabricmark {

/// Identifies contents: 32 hexadecimal digits.
std::string content_digest(const std::string& text);

}  // namespace fabricmark
