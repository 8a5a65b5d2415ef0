#include "microbench/omb/watch.hpp"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "base/error.hpp"

namespace fabricmark::microbench::omb {

namespace {

std::atomic<Watch*> watching = nullptr;
static_assert(std::atomic<Watch*>::is_always_lock_free, "a handler of signals reads it");

void set_timer(double seconds) {
  const auto micros = static_cast<suseconds_t>(std::max(seconds * 1e6, seconds > 0 ? 1.0 : 0.0));
  const timeval between{.tv_sec = 0, .tv_usec = micros};
  const itimerval timer{.it_interval = between, .it_value = between};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Watch::Watch(double timeout_seconds, int rank, const std::string& program)
    : line_(fmt::format("{}: error: a call of MPI on rank {} has not returned in {:g} s; see whether the "
                        "library delivers messages, or wait longer with --timeout\n",
                        program, rank, timeout_seconds)) {
  const double look_seconds = std::min(timeout_seconds / 8, 0.5);
  // One rank is to speak: the launcher ends the others meanwhile.
  const double patience_seconds = timeout_seconds + std::min(3 * rank, 30);
  patience_ = static_cast<int>(std::ceil(patience_seconds / look_seconds));
  watching = this;
  struct sigaction action {};
  action.sa_handler = at_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  set_timer(look_seconds);
}

Watch::~Watch() {
  set_timer(0);
  watching = nullptr;
  std::signal(SIGALRM, SIG_DFL);
}

void Watch::at_signal(int /*signal*/) {
  if (Watch* const one = watching.load()) one->look();
}

/// Only what a handler of signals may do.
void Watch::look() {
  const std::uint64_t now = steps_.load(std::memory_order_relaxed);
  if (now != seen_ || now % 2 == 0) {
    seen_ = now;
    waited_ = 0;
    return;
  }
  if (++waited_ <= patience_) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line_.data(), line_.size());
  _exit(static_cast<int>(ExitCode::kEnvironment));
}

}  // namespace fabricmark::microbench::omb
