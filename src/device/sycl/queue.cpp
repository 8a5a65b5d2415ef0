#include <algorithm>

#include "base/watchdog.hpp"
#include "device/sycl/sycl.hpp"

namespace fabricmark::device::sycl {

std::string last_words(const plugin::Functions& functions) {
  std::string words = functions.last_words();
  std::ranges::replace(words, '\n', ' ');
  return words;
}

void check(const plugin::Functions& functions, plugin::Outcome outcome, const char* call) {
  if (outcome != plugin::kDone) throw Refusal(std::string(call) + " with '" + last_words(functions) + "'");
}

bool EventState::has_ended() {
  std::int32_t ended = 0;
  check(*on_.functions, on_.functions->has_ended(handle(), &ended), "to look at an event");
  return ended != 0;
}

void EventState::wait() {
  const Watched watched(Awaiting::kDevice);
  check(*on_.functions, on_.functions->wait(handle()), "to wait for an event");
}

CommandTimes EventState::times() {
  plugin::Times times{};
  check(*on_.functions, on_.functions->times(handle(), &times), "the times of an event");
  // SYCL knows no earlier moment than that of the submission.
  return {times.submitted, times.submitted, times.started, times.ended};
}

std::vector<plugin::Event*> handles(const Events& events) {
  std::vector<plugin::Event*> found;
  for (const Event& event : events) {
    if (const auto* const own = dynamic_cast<const EventState*>(event.state())) {
      found.push_back(own->handle());
    } else {
      event.wait();
    }
  }
  return found;
}

Queue::Queue(const Opened& on, bool profiling) : on_(on) {
  check(*on_.functions, on_.functions->make_queue(on_.device.get(), profiling ? 1 : 0, &handle_),
        "to make a queue");
}

Queue::~Queue() {
  const auto lock = setup_lock();
  on_.functions->release_queue(handle_);
}

void Queue::flush() { check(*on_.functions, on_.functions->flush(handle_), "to flush a queue"); }

void Queue::finish() { check(*on_.functions, on_.functions->finish(handle_), "to finish a queue"); }

void Queue::begin_after(const Events& events) {
  const std::vector<plugin::Event*> all = handles(events);
  if (all.empty()) return;
  check(*on_.functions, on_.functions->begin_after(handle_, all.data(), all.size()), "to wait in a queue");
}

}  // namespace fabricmark::device::sycl
