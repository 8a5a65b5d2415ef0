#pragma once

#include <string>
#include <vector>

namespace fabricmark::runtime {

/// What --timeout of a command line says, which nobody has read yet, else its default [s].
double timeout_of(const std::vector<std::string>& command);

/// Ends the process in one line, with exit code 3, where MPI has not started in time: one of its processes
/// may never come, and MPI waits for it without an end. It looks by a timer of the process, as a thread would
/// have MPI lock what it keeps. One at a time.
class StartWatch {
 public:
  /// What MPI's start may take beyond --timeout, which is often short where messages are: launchers are slow.
  static constexpr double kMarginSeconds = 5;
  /// `rank`, by the launcher: the first one speaks, and others where that does not.
  StartWatch(const std::string& program, double timeout_seconds, int rank);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  static void at_signal(int signal);
  std::string line_;
};

}  // namespace fabricmark::runtime
