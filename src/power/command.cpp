// A program of the user's that prints watts, for whatever has no source of its own: a power distribution
// unit, a management controller, a vendor's tool.
#include <algorithm>

#include "base/error.hpp"
#include "base/subprocess.hpp"
#include "power/source.hpp"
#include "power/sysfs.hpp"

namespace fabricmark::power {

namespace {

/// What fits into a message of one line.
std::string start_of(const std::string& text) {
  constexpr std::size_t kLongest = 40;
  const std::size_t end = text.find('\n');
  const bool is_all = end == std::string::npos || end + 1 == text.size();
  return text.substr(0, std::min(end, kLongest)) + (is_all ? "" : " ...");
}

}  // namespace

Source open_command(const std::string& command) {
  constexpr double kLongestSeconds = 10;
  const std::vector<std::string> words = split_words(command);
  const Output first = run_command(words, kLongestSeconds);
  if (!first.failure.empty()) {
    throw bad_use("--power-command '" + command + "' " + first.failure,
                  "give a program that prints watts and ends with 0");
  }
  const std::optional<double> watts = parse_number(first.text);
  if (!watts || *watts < 0) {
    throw bad_use("--power-command '" + command + "' prints '" + start_of(first.text) + "', not watts",
                  "print one number and nothing else");
  }
  Source source{"command"};
  source.domains.push_back({"command", Quantity::kPower, 0, [words]() -> std::optional<double> {
                              const Output output = run_command(words, kLongestSeconds);
                              return output.failure.empty() ? parse_number(output.text) : std::nullopt;
                            }});
  return source;
}

}  // namespace fabricmark::power
