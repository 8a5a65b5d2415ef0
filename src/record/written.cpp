#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "record/recorder.hpp"

namespace fabricmark::record {

namespace {

bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ::ssize_t now = ::write(file, text.data() + done, text.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    done += static_cast<std::size_t>(now);
  }
  return true;
}

}  // namespace

std::string write_whole(const std::string& path, const std::vector<std::string>& lines) {
  constexpr int kReadable = 0644;
  const std::string beside = path + "." + std::to_string(::getpid());
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadable);
  if (file < 0) return std::strerror(errno);
  bool is_written = true;
  for (const std::string& line : lines) is_written = is_written && write_all(file, line + "\n");
  is_written = is_written && ::fsync(file) == 0;
  const int why = errno;
  ::close(file);
  if (is_written && std::rename(beside.c_str(), path.c_str()) == 0) return "";
  const std::string said = std::strerror(is_written ? errno : why);
  ::unlink(beside.c_str());
  return said;
}

std::string quoted(const std::string& text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kLastAscii = 0x7E;
  std::string found = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      found += '\\';
      found += character;
    } else {
      found += code < kFirstPrintable || code > kLastAscii ? '?' : character;
    }
  }
  return found + "\"";
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& character : text) {
    if (character == '\0') character = ' ';
  }
  return text;
}

}  // namespace fabricmark::record
