#include "base/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/error.hpp"

namespace fabricmark {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// What posix_spawn is told: standard output into `write_end`, the other two nowhere, a group of its own.
class SpawnPlan {
 public:
  explicit SpawnPlan(int write_end) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// Starts the program; 0 or the reason why not.
int spawn(const std::vector<std::string>& words, int write_end, pid_t& process) {
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const SpawnPlan plan(write_end);
  return posix_spawnp(&process, pointers[0], &plan.actions, &plan.attributes, pointers.data(), environ);
}

/// Reads until the other end closes; false when `end` comes first.
bool read_all(int descriptor, SteadyClock::time_point end, std::string& text) {
  constexpr std::size_t kEnough = 4096;  // more than any number is long
  std::array<char, kEnough> part{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now()).count();
    pollfd waiting{descriptor, POLLIN, 0};
    if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) == 0) return false;
    const ssize_t count = read(descriptor, part.data(), part.size());
    if (count == 0) return true;
    if (count < 0 && errno != EINTR) return true;
    if (count > 0 && text.size() < kEnough) text.append(part.data(), static_cast<std::size_t>(count));
  }
}

/// The exit status, or -1 after having ended the program at `end`.
int wait_for(pid_t process, SteadyClock::time_point end) {
  constexpr std::chrono::milliseconds kPause(1);
  int status = 0;
  while (true) {
    const pid_t done = waitpid(process, &status, WNOHANG);
    if (done == process) return status;
    if (done < 0 && errno != EINTR) return -1;
    if (SteadyClock::now() >= end) break;
    std::this_thread::sleep_for(kPause);
  }
  kill(-process, SIGKILL);
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return -1;
}

}  // namespace

std::vector<std::string> split_words(const std::string& command) {
  std::vector<std::string> words;
  char quote = 0;
  bool is_inside = false;
  for (const char letter : command) {
    if (quote != 0 && letter == quote) {
      quote = 0;
    } else if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
      if (!is_inside) words.emplace_back();
      is_inside = true;
    } else if (quote == 0 && std::strchr(" \t\n", letter) != nullptr) {
      is_inside = false;
    } else {
      if (!is_inside) words.emplace_back();
      is_inside = true;
      words.back() += letter;
    }
  }
  if (quote != 0) throw bad_use("--power-command has an open quote", "close it");
  if (words.empty() || words.front().empty()) {
    throw bad_use("--power-command names no program", "give one that prints watts");
  }
  return words;
}

Output run_command(const std::vector<std::string>& words, double seconds) {
  const auto end = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                            std::chrono::duration<double>(std::max(seconds, 0.0)));
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return {"", fmt::format("no pipe: {}", std::strerror(errno))};
  pid_t process = 0;
  const int failure = spawn(words, pipe_ends[1], process);
  close(pipe_ends[1]);
  Output output;
  if (failure != 0) {
    output.failure = fmt::format("cannot be started ({})", std::strerror(failure));
  } else {
    const bool is_whole = read_all(pipe_ends[0], end, output.text);
    const int status = wait_for(process, is_whole ? end : SteadyClock::now());
    if (!is_whole || status == -1) {
      output.failure = fmt::format("did not end within {:.3g} s", seconds);
    } else if (WIFSIGNALED(status)) {
      output.failure = fmt::format("was ended by signal {}", WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
      output.failure = fmt::format("ended with exit status {}", WEXITSTATUS(status));
    }
  }
  close(pipe_ends[0]);
  return output;
}

}  // namespace fabricmark
