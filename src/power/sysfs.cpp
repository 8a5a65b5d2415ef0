#include "power/sysfs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace fabricmark::power {

namespace fs = std::filesystem;

fs::path folder_from(const char* variable, const char* usual) {
  const char* given = std::getenv(variable);
  return given != nullptr && *given != '\0' ? given : usual;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

std::optional<std::string> read_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  return line;
}

std::optional<double> parse_number(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return std::nullopt;
  const char* const end = text.data() + text.find_last_not_of(kBlanks) + 1;
  double number = 0;
  const auto [stop, failure] = std::from_chars(text.data() + first, end, number);
  if (failure != std::errc{} || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<double> read_number(const fs::path& file, double scale) {
  const std::optional<std::string> line = read_line(file);
  const std::optional<double> number = line ? parse_number(*line) : std::nullopt;
  if (!number) return std::nullopt;
  return *number * scale;
}

}  // namespace fabricmark::power
