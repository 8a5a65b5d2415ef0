#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fabricmark {

/// Columns of standard output: what COLUMNS says, else the terminal, else 130, as in
/// python/fabricmark/base/terminal.py.
std::size_t terminal_width();

/// Columns that a UTF-8 text takes, where each character takes one.
std::size_t columns(std::string_view text);

/// The words of a text.
std::vector<std::string> words(std::string_view text);

/// Parts with a space between them on as few lines as hold each of them whole; a part that is longer than a
/// line has one of its own. Lines after the first begin with `indent` spaces. Ends with a line feed.
std::string packed(const std::vector<std::string>& parts, std::size_t width, std::size_t indent);

}  // namespace fabricmark
