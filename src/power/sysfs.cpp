#include "power/sysfs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/host.hpp"
#include "base/number_from.hpp"

namespace fabricmark::power {

namespace fs = std::filesystem;

fs::path folder_from(const char* variable, const char* usual) {
  const std::string given = environment(variable);
  return given.empty() ? usual : given;
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
  const std::size_t behind = text.find_last_not_of(kBlanks) + 1;
  const auto number = number_from<double>(std::string_view(text).substr(first, behind - first));
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> read_number(const fs::path& file, double scale) {
  const std::optional<std::string> line = read_line(file);
  const std::optional<double> number = line ? parse_number(*line) : std::nullopt;
  if (!number) return std::nullopt;
  return *number * scale;
}

}  // namespace fabricmark::power
