#include "microbench/omb/watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/host.hpp"

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

/// The letter of a process's state; 0: there is none any more. Only what a handler of signals may do.
char state_of(const char* file) {
  char text[512];
  const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const ssize_t length = read(descriptor, text, sizeof text);
  close(descriptor);
  // "12 (its name) S ...", where the name may hold anything.
  for (ssize_t i = length - 3; i > 0; --i) {
    if (text[i] == ')') return text[i + 2];
  }
  return 0;
}

bool is_stopped(char state) { return state == 'T' || state == 't'; }
bool has_ended(char state) { return state == 0 || state == 'Z' || state == 'X'; }

}  // namespace

Watch::Watch(double timeout_seconds, runtime::Communicator& ranks, const std::string& program)
    : line_(fmt::format("{}: error: a call of MPI on rank {} has not returned in {:g} s; see whether the "
                        "library delivers messages, or wait longer with --timeout\n",
                        program, ranks.rank(), timeout_seconds)) {
  set_others(ranks, program);
  const double look_seconds = std::min(timeout_seconds / 8, 0.25);
  // One rank is to speak: the launcher ends the others meanwhile.
  patience_ = static_cast<int>(std::ceil(timeout_seconds / look_seconds));
  last_patience_ = patience_ + static_cast<int>(std::min(3 * ranks.rank(), 30) / look_seconds);
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

void Watch::set_others(runtime::Communicator& ranks, const std::string& program) {
  // Numbers of processes mean something in their own container only.
  std::error_code ignored;
  const std::string host =
      describe_host().name + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
  const std::vector<std::string> all = ranks.all_gather_texts(fmt::format("{} {}", getpid(), host));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t space = all[rank].find(' ');
    if (std::cmp_equal(rank, ranks.rank()) || all[rank].substr(space + 1) != host) continue;
    const std::string process = all[rank].substr(0, space);
    others_.push_back(
        {fmt::format("/proc/{}/stat", process), std::cmp_less(rank, ranks.rank()),
         fmt::format(
             "{}: error: rank {} does not answer: its process {} is stopped; see who has stopped it\n",
             program, rank, process),
         fmt::format("{}: error: rank {} does not answer: its process {} has ended; see what has ended it\n",
                     program, rank, process)});
  }
  knows_all_before_ = std::cmp_equal(std::ranges::count_if(others_, &Other::is_before), ranks.rank());
}

bool Watch::leaves_it_to_another() {
  if (!knows_all_before_ && waited_ <= last_patience_) return true;
  for (const Other& other : others_) {
    if (!other.is_before) continue;
    const char state = state_of(other.file.c_str());
    // It has spoken, or was killed, which the launcher says.
    if (has_ended(state)) _exit(static_cast<int>(ExitCode::kEnvironment));
    if (!is_stopped(state) && waited_ <= last_patience_) return true;
  }
  return false;
}

const std::string& Watch::line() const {
  for (const Other& other : others_) {
    const char state = state_of(other.file.c_str());
    if (is_stopped(state)) return other.if_stopped;
    if (has_ended(state)) return other.if_ended;
  }
  return line_;
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
  if (++waited_ <= patience_ || leaves_it_to_another()) return;
  const std::string& said = line();
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, said.data(), said.size());
  _exit(static_cast<int>(ExitCode::kEnvironment));
}

}  // namespace fabricmark::microbench::omb
