#include "base/steady_seconds.hpp"
#include "base/watchdog.hpp"
#include "device/xrt/xrt.hpp"

namespace fabricmark::device::xrt {

void check(int code, const char* call) {
  if (code != 0) throw Refusal(std::string(call) + " with '" + last_words() + "'");
}

EventState::EventState() { times_.queued = times_.submitted = steady_seconds(); }

void EventState::begin() {
  const std::scoped_lock lock(mutex_);
  times_.started = steady_seconds();
}

void EventState::end(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  times_.ended = steady_seconds();
  failure_ = std::move(failure);
  is_ended_ = true;
  ended_.notify_all();
}

bool EventState::has_ended() {
  const std::scoped_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  return is_ended_;
}

void EventState::wait() {
  const Watched watched(Awaiting::kDevice);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return is_ended_; });
  if (failure_) std::rethrow_exception(failure_);
}

CommandTimes EventState::times() {
  const std::scoped_lock lock(mutex_);
  return times_;
}

Queue::Queue() : thread_([this] { work(); }) {}

Queue::~Queue() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Queue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !commands_.empty(); });
    if (commands_.empty()) return;
    const Command command = std::move(commands_.front());
    commands_.pop_front();
    is_busy_ = true;
    const bool is_corrupted = failure_ != nullptr;
    std::exception_ptr failure = failure_;
    lock.unlock();
    command.state->begin();
    try {
      if (!is_corrupted) command.run();
    } catch (...) {
      failure = std::current_exception();
    }
    command.state->end(failure);
    lock.lock();
    failure_ = failure;
    is_busy_ = false;
    changed_.notify_all();
  }
}

void Queue::add(std::function<void()> command, Event* done) {
  const auto state = std::make_shared<EventState>();
  const std::scoped_lock lock(mutex_);
  commands_.push_back({std::move(command), state});
  changed_.notify_all();
  if (done != nullptr) *done = Event(state);
}

void Queue::finish() {
  const Watched watched(Awaiting::kDevice);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return commands_.empty() && !is_busy_; });
  if (failure_) std::rethrow_exception(failure_);
}

void Queue::begin_after(const Events& events) {
  for (const Event& event : events) {
    if (dynamic_cast<const EventState*>(event.state()) == nullptr) {
      event.wait();  // transfers move on when the host looks at them
    } else {
      add([event] { event.wait(); }, nullptr);
    }
  }
}

void Queue::migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) {
  for (backend::Memory* const memory : memories)
    dynamic_cast<Memory&>(*memory).move(*this, to_host, memory == memories.back() ? done : nullptr);
}

}  // namespace fabricmark::device::xrt
