#include "base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace fabricmark {

namespace {
constexpr std::size_t kPipedColumns = 130;
}

std::size_t terminal_width() {
  const char* given = std::getenv("COLUMNS");
  char* end = nullptr;
  const long columns = given == nullptr ? 0 : std::strtol(given, &end, 10);
  if (columns > 0 && *end == '\0') return static_cast<std::size_t>(columns);
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kPipedColumns;
}

std::size_t columns(std::string_view text) {
  // Bytes that go on with a character begin with the bits 10.
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; }));
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

std::string packed(const std::vector<std::string>& parts, std::size_t width, std::size_t indent) {
  std::string text;
  std::size_t used = 0;
  for (const std::string& part : parts) {
    const std::size_t wanted = columns(part);
    if (text.empty()) {
      used = wanted;
    } else if (used + 1 + wanted <= width) {
      text += ' ';
      used += 1 + wanted;
    } else {
      text += '\n' + std::string(indent, ' ');
      used = indent + wanted;
    }
    text += part;
  }
  return text + '\n';
}

}  // namespace fabricmark
