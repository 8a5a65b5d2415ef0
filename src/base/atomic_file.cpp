#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "base/number_from.hpp"

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

/// Into what is open already: a device, a pipe, or a file that others write into too.
void write_through(int file, const std::filesystem::path& path, std::string_view content) {
  int failure = write_all(file, content);
  if (::close(file) != 0 && failure == 0) failure = errno;
  if (failure != 0) throw cannot_write(path, failure);
}

/// Opens a device or pipe: a rename would put a plain file in its place. A pipe waits for its reader, but not
/// for ever.
int opened_special(const std::filesystem::path& path) {
  constexpr int kTries = 100;
  constexpr std::chrono::milliseconds kBetween(100);
  for (int i = 0;; ++i) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0) {
      ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
      return file;
    }
    if (errno != ENXIO || i == kTries || !std::filesystem::is_fifo(path)) throw cannot_write(path, errno);
    std::this_thread::sleep_for(kBetween);
  }
}

/// The stream of this process that a path like /dev/stdout, /dev/fd/3 or /proc/self/fd/3 stands for: opened
/// by its name, a file would be written into from its start again.
std::optional<int> own_stream(const std::filesystem::path& path) {
  const std::string name = path.lexically_normal().string();
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const auto stream = number_from<int>(std::string_view(name).substr(folder.size()));
    if (stream && *stream >= 0) return stream;
  }
  return std::nullopt;
}

/// Where the links of a path lead, of which the last one may lead to nothing yet.
std::filesystem::path linked(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code failure;
  for (int i = 0; std::filesystem::is_symlink(path, failure); ++i) {
    if (i == kMostLinks) throw cannot_write(path, ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(path, failure);
    if (failure) throw cannot_write(path, failure.value());
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

/// Beside the file first, then in its place.
void replace(const std::filesystem::path& path, std::string_view content) {
  std::error_code ignored;
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::filesystem::create_directories(folder, ignored);  // a failure shows when the file is opened
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

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  if (const std::optional<int> stream = own_stream(path)) {
    const int file = ::fcntl(*stream, F_DUPFD_CLOEXEC, 0);
    if (file < 0) throw cannot_write(path, errno);
    write_through(file, path, content);
    return;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw cannot_write(path, EISDIR);
  if (std::filesystem::is_other(path, ignored)) {
    write_through(opened_special(path), path, content);
  } else {
    replace(linked(path), content);
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
