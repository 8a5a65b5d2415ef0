#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fabricmark::power {

/// Linux gives power and energy in millionths.
inline constexpr double kMicro = 1e-6;

/// The folder that the environment variable names, else the usual one.
std::filesystem::path folder_from(const char* variable, const char* usual);

/// The entries of a folder by name; none where there is no such folder.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// The first line of a file; nothing when it cannot be read.
std::optional<std::string> read_line(const std::filesystem::path& file);

/// `text` as a finite number with nothing but blanks around it.
std::optional<double> parse_number(const std::string& text);

/// The number in a file, times `scale`; nothing when there is none.
std::optional<double> read_number(const std::filesystem::path& file, double scale);

}  // namespace fabricmark::power
