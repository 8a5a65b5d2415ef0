#pragma once

#include <string>
#include <vector>

namespace fabricmark {

/// Splits a command line at its blanks; single and double quotes keep a word together, nothing else is
/// special. Throws Error (bad use) for an open quote or no word at all.
std::vector<std::string> split_words(const std::string& command);

/// What a program printed, and how it ended.
struct Output {
  std::string text;
  std::string failure;  ///< why there is no text; empty when it ended with 0
};

/// Runs a program without a shell and waits for its end, at most `seconds`. Throws nothing.
Output run_command(const std::vector<std::string>& words, double seconds);

}  // namespace fabricmark
