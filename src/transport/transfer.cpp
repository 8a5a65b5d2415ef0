#include "transport/transfer.hpp"

#include <algorithm>

#include "base/steady_seconds.hpp"

namespace fabricmark::transport {

void Transfer::start(std::span<const Message> sends, std::span<const Message> receives,
                     const device::Events& after, bool is_timed) {
  cancel();
  sends_.assign(sends.begin(), sends.end());
  receives_.assign(receives.begin(), receives.end());
  after_ = after;
  is_timed_ = is_timed;
  times_ = {};
  stage_ = Stage::kBefore;
  stamp(times_.queued);
  // Of an exchange that is waited for at once, nothing is left for later.
  if (after_.empty()) static_cast<void>(has_ended());
}

// What fails is given up at once: the memory of its messages may go next.
bool Transfer::has_ended() try {
  if (stage_ == Stage::kBefore) {
    if (!std::ranges::all_of(after_, [](const device::Event& event) { return event.has_ended(); }))
      return false;
    after_.clear();
    stamp(times_.submitted);
    stage_ = Stage::kInFlight;
    begin();
    stamp(times_.started);
  }
  if (stage_ == Stage::kInFlight && advance()) {
    stamp(times_.ended);
    stage_ = Stage::kEnded;
  }
  return stage_ == Stage::kEnded;
} catch (...) {
  cancel();
  throw;
}

void Transfer::wait() {
  try {
    if (stage_ == Stage::kBefore) {
      for (const device::Event& event : after_) event.wait();
    }
    while (!has_ended()) {
      if (others_ != nullptr && others_->size() > 1) others_->look();
      idle();
    }
  } catch (...) {
    cancel();
    throw;
  }
}

bool Transfer::cancel() {
  if (stage_ == Stage::kInFlight) give_up();
  stage_ = Stage::kEnded;
  after_.clear();
  return true;
}

void Transfer::stamp(double& moment) const {
  if (!is_timed_) return;
  moment = steady_seconds();
}

}  // namespace fabricmark::transport
