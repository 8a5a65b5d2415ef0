#pragma once

#include <chrono>
#include <string>

namespace fabricmark {

/// One line on the terminal that says what is going on; nothing where standard error is not a terminal.
class Progress {
 public:
  /// Silent unless `wanted` and standard error is a terminal.
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const std::string& what);
  /// At most ten times a second, so that it costs a repetition nothing.
  void repetition(int done, int wanted);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace fabricmark
