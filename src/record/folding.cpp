#include "record/folding.hpp"

namespace fabricmark::record {

bool Folding::add(std::uint32_t key, const Spent& spent) {
  if (key >= heads_.capacity()) return false;
  if (!push({.key = key, .spent = spent})) return false;
  while (fold()) {
  }
  return true;
}

bool Folding::push(const Step& step) {
  // One more place is left, as a call that ends the first turn of a loop adds two steps for a moment.
  if (size_ + 1 >= steps_.capacity() || loops_.capacity() == 0) return false;
  steps_[size_] = step;
  steps_[size_].before = head(step.key);
  head(step.key) = static_cast<std::uint32_t>(++size_);
  return true;
}

void Folding::pop() {
  const Step& last = steps_[--size_];
  head(last.key) = last.before;
}

bool Folding::fold() {
  for (std::size_t found = steps_[size_ - 1].before; found > 0; found = steps_[found - 1].before) {
    // Either the turn before ends there, or it does so before the step of a loop.
    const std::size_t length = size_ - found;
    if (length > kLongest + 1) break;
    if (length <= kLongest && found >= length && are_alike(found - length, found, length)) {
      merge(found - length, found, length);
      push({.key = kLoop + static_cast<std::uint32_t>(length), .times = 2});
      return true;
    }
    const std::size_t turn = length - 1;  // of what stands behind the loop
    if (turn == 0 || turn > found || steps_[found].key != kLoop + turn) continue;
    if (!are_alike(found - turn, found + 1, turn)) continue;
    merge(found - turn, found + 1, turn);
    ++steps_[found].times;
    return true;
  }
  return false;
}

bool Folding::are_alike(std::size_t first, std::size_t second, std::size_t length) const {
  for (std::size_t i = length; i-- > 0;) {
    const Step& one = steps_[first + i];
    const Step& other = steps_[second + i];
    if (one.key != other.key) return false;
    // A loop that began before is no part of a turn.
    if (one.is_loop() && (one.times != other.times || one.length() > i)) return false;
  }
  return true;
}

void Folding::merge(std::size_t first, std::size_t second, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    Spent& sum = steps_[first + i].spent;
    const Spent& more = steps_[second + i].spent;
    sum.compute_seconds += more.compute_seconds;
    sum.inside_seconds += more.inside_seconds;
    sum.tests += more.tests;
    sum.test_seconds += more.test_seconds;
  }
  while (size_ > second) pop();
}

}  // namespace fabricmark::record
