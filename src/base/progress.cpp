#include "base/progress.hpp"

#include <unistd.h>

#include <iostream>

namespace fabricmark {

namespace {
constexpr const char* kEraseLine = "\r\033[K";
constexpr std::chrono::milliseconds kInterval{100};
}  // namespace

Progress::Progress(bool wanted) : enabled_(wanted && isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::step(const std::string& what) {
  if (!enabled_) return;
  std::cerr << kEraseLine << what << std::flush;
  shown_ = true;
}

void Progress::repetition(int done, int wanted) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kInterval) return;
  last_ = now;
  step("repetition " + std::to_string(done) + " of " + std::to_string(wanted));
}

void Progress::clear() {
  if (!shown_) return;
  std::cerr << kEraseLine << std::flush;
  shown_ = false;
}

}  // namespace fabricmark
