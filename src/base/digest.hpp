#pragma once

#include <string>
#include <string_view>

namespace fabricmark {

/// Identifies contents: 32 hexadecimal digits.
std::string content_digest(std::string_view text);

}  // namespace fabricmark
