#include "device/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "device/error.hpp"

namespace fabricmark {

namespace {

Error cannot_write(const std::filesystem::path& path, int reason) {
  return bad_use("cannot write '" + path.string() + "': " + std::strerror(reason),
                 "name a file in a folder that you may write to");
}

/// 0, or the errno of what failed.
int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  std::error_code ignored;
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::filesystem::create_directories(folder, ignored);  // a failure shows when the file is opened
  if (std::filesystem::is_directory(path, ignored)) throw cannot_write(path, EISDIR);

  std::string temporary = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
  const int file = ::mkstemp(temporary.data());
  if (file < 0) throw cannot_write(path, errno);
  int failure = write_all(file, content);
  if (failure == 0 && ::fchmod(file, 0644) != 0) failure = errno;
  if (::close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    throw cannot_write(path, failure);
  }
}

}  // namespace fabricmark
