#include "board/dataflow/worker.hpp"

#include <utility>

namespace fabricmark::dataflow {

namespace {

/// A kernel goes on.
class Answer final : public Decision {
 public:
  explicit Answer(Kernel& kernel) : kernel_(kernel) {}
  void decide(Time /*now*/) override { kernel_.worker().make_ready(kernel_); }

 private:
  Kernel& kernel_;
};

}  // namespace

Worker::Worker(std::size_t stack_bytes, std::optional<std::uint64_t> seed) : stacks_(stack_bytes) {
  if (seed) draw_.emplace(*seed);
}

void Worker::decide_at(const Due& due, Decision& decision) {
  const auto handle = [](void* owner, const network::Event& event) {
    static_cast<Decision*>(owner)->decide(event.time);
  };
  due_.schedule({due.time, static_cast<std::uint32_t>(due.device), static_cast<std::uint32_t>(due.port),
                 due.sequence, handle, &decision, 0});
}

void Worker::wait_until_known(Kernel& kernel) {
  Answer answer(kernel);  // lies on the kernel's stack until it is due
  decide_at({kernel.clock, kernel.device(), kFirstAsking + kernel.number(), 0}, answer);
  kernel.wait(Kernel::Waits::kForTime, nullptr);
}

Kernel* Worker::next_ready() {
  if (draw_ && ready_.size() > 1) {
    std::swap(ready_.front(), ready_[(*draw_)() % ready_.size()]);
  }
  Kernel* const kernel = ready_.front();
  ready_.pop_front();
  return kernel;
}

bool Worker::decide_one(Time horizon) {
  const Time alarm = next_alarm();
  if (due_.next_time() <= alarm) return due_.run_one(horizon);
  if (alarm >= horizon) return false;
  Decision& decision = *alarms_.begin()->second;
  alarms_.erase(alarms_.begin());
  decision.decide(alarm);
  return true;
}

void Worker::run(Time horizon) {
  do {
    while (!ready_.empty()) {
      Kernel* const kernel = next_ready();
      kernel->resume();
      if (kernel->has_ended()) ended_.push_back(kernel);
    }
  } while (ended_.empty() && decide_one(horizon));
}

}  // namespace fabricmark::dataflow
