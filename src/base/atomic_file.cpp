#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace fabricmark {

namespace {

bool is_of_the_disk(int reason) {
  return reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO;
}

Error cannot_write(const std::filesystem::path& path, int reason) {
  const std::string cause = "cannot write '" + path.string() + "': " + std::strerror(reason);
  if (is_of_the_disk(reason)) return environment_failure(cause, "free some space or name another place");
  return bad_use(cause, "name a file in a folder that you may write to");
}

/// 0, or the errno of what failed.
int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_to_disk(int file, std::string_view content) {
  if (const int failure = write_all(file, content); failure != 0) return failure;
  return ::fsync(file) == 0 ? 0 : errno;
}

/// Into a device, pipe or socket such as /dev/stdout: a rename would put a plain file in its place.
void write_through(const std::filesystem::path& path, std::string_view content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) throw cannot_write(path, errno);
  int failure = write_all(file, content);
  if (::close(file) != 0 && failure == 0) failure = errno;
  if (failure != 0) throw cannot_write(path, failure);
}

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  std::error_code ignored;
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::filesystem::create_directories(folder, ignored);  // a failure shows when the file is opened
  if (std::filesystem::is_directory(path, ignored)) throw cannot_write(path, EISDIR);
  if (std::filesystem::is_other(path, ignored)) {
    write_through(path, content);
    return;
  }

  std::string temporary = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
  const int file = ::mkstemp(temporary.data());
  if (file < 0) throw cannot_write(path, errno);
  int failure = write_to_disk(file, content);
  if (failure == 0 && ::fchmod(file, 0644) != 0) failure = errno;
  if (::close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    throw cannot_write(path, failure);
  }
}

void write_standard_output(std::string_view content) {
  const int failure = write_all(STDOUT_FILENO, content);
  if (failure == 0) return;
  if (failure == EPIPE) {  // only where somebody has switched the signal off
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw environment_failure(std::string("cannot write to standard output: ") + std::strerror(failure),
                            "send the output elsewhere");
}

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number, which is this one; opened the wrong way round, so that using it fails.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace fabricmark
