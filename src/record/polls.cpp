#include "record/polls.hpp"

#include <algorithm>
#include <utility>

namespace fabricmark::record {

void Polls::add(double gap_seconds, double inside_seconds) {
  // The program comes from another call: what it did since then says nothing of what it does between tests.
  if (std::exchange(is_first_, false)) {
    sum_.compute_seconds += std::max(0.0, gap_seconds);
  } else {
    gap_seconds_ += gap_seconds;
    ++gaps_;
  }
  inside_seconds_ += inside_seconds;
  if (++tests_ == kBatch) settle();
}

void Polls::settle() {
  constexpr double kIdle = 1.25;  // times the recorder's own gap, at most, where nothing is done in it
  const auto gaps = static_cast<double>(gaps_);
  // One by itself is followed by something else than a test.
  const bool works = gaps_ == 0 || gap_seconds_ > kIdle * costs_.gap_seconds * gaps;
  if (works) {
    const double own = std::min(gap_seconds_, costs_.gap_seconds * gaps);
    const double extra = std::min(inside_seconds_, costs_.extra_seconds * static_cast<double>(tests_));
    sum_.compute_seconds += gap_seconds_ - own;
    sum_.tests += tests_;
    sum_.test_seconds += inside_seconds_ - extra;
    sum_.own_seconds += own + extra;
  } else {
    sum_.waited_seconds += gap_seconds_ + inside_seconds_;
  }
  tests_ = gaps_ = 0;
  gap_seconds_ = inside_seconds_ = 0;
}

Polls::Sum Polls::take() {
  if (tests_ > 0) settle();
  is_first_ = true;
  return std::exchange(sum_, {});
}

}  // namespace fabricmark::record
