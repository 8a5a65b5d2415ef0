#include "runtime/start_watch.hpp"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <string_view>

#include "base/error.hpp"
#include "base/number_from.hpp"

namespace fabricmark::runtime {

namespace {

constexpr double kDefaultTimeout = 60;
constexpr double kLongestTimer = 1e8;
constexpr int kMostSecondsLater = 2;

std::atomic<const std::string*> said = nullptr;
static_assert(std::atomic<const std::string*>::is_always_lock_free, "a handler of signals reads it");

void set_timer(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const auto micros = static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6);
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = whole, .tv_usec = micros}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

double timeout_of(const std::vector<std::string>& command) {
  constexpr std::string_view kName = "--timeout";
  double seconds = kDefaultTimeout;
  for (std::size_t i = 1; i < command.size(); ++i) {
    std::string_view text = command[i];
    if (!text.starts_with(kName)) continue;
    text.remove_prefix(kName.size());
    if (text.empty() && i + 1 < command.size()) {
      text = command[i + 1];
    } else if (text.starts_with('=')) {
      text.remove_prefix(1);
    }
    const double found = number_from<double>(text).value_or(0);
    if (found > 0) seconds = found;  // what is none is refused later
  }
  return seconds;
}

StartWatch::StartWatch(const std::string& program, double timeout_seconds, int rank)
    : line_(fmt::format("{}: error: MPI has not started on all ranks in {:g} s; see whether each process of "
                        "the job starts and is one of MPI, or wait longer with --timeout\n",
                        program, timeout_seconds + kMarginSeconds)) {
  said = &line_;
  struct sigaction action {};
  action.sa_handler = at_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const double later = std::min(0.5 * rank, static_cast<double>(kMostSecondsLater));
  set_timer(std::min(timeout_seconds + kMarginSeconds + later, kLongestTimer));
}

StartWatch::~StartWatch() {
  set_timer(0);
  said = nullptr;
  std::signal(SIGALRM, SIG_DFL);
}

/// Only what a handler of signals may do.
void StartWatch::at_signal(int /*signal*/) {
  const std::string* const line = said.load();
  if (line == nullptr) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line->data(), line->size());
  _exit(static_cast<int>(ExitCode::kEnvironment));
}

}  // namespace fabricmark::runtime
