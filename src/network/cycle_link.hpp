#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "network/flow_control.hpp"

namespace fabricmark::network {

/// One direction of a link stepped cycle by cycle: words travel `forward` cycles and feedback `back` ones. It
/// tells what the links between kernels, which leave idle cycles out, must agree with.
class CycleLink {
 public:
  CycleLink(std::unique_ptr<FlowControl> flow, std::int64_t forward, std::int64_t back)
      : flow_(std::move(flow)), forward_(forward), back_(back) {}

  struct Cycle {
    bool leaves = false;
    bool arrives = false;
    bool is_lost = false;  // on its arrival
    bool taken = false;
  };
  /// Its sender has a word when `valid`, its receiver takes one when `takes` and there is one.
  Cycle step(bool valid, bool takes) {
    Cycle cycle;
    FlowControl::Feedback heard;
    if (!feedback_.empty() && feedback_.front().first == now_) {
      heard = feedback_.front().second;
      feedback_.pop_front();
    }
    cycle.leaves = flow_->step_sender(heard, valid);
    if (cycle.leaves) words_.push_back(now_ + forward_);
    cycle.arrives = !words_.empty() && words_.front() == now_;
    if (cycle.arrives) words_.pop_front();
    cycle.is_lost = cycle.arrives && !flow_->arrive();
    cycle.taken = takes && flow_->take();
    const FlowControl::Feedback told = flow_->end_cycle();
    if (told.says_something()) feedback_.emplace_back(now_ + back_, told);
    ++now_;
    return cycle;
  }
  [[nodiscard]] const FlowControl& flow() const { return *flow_; }
  [[nodiscard]] std::int64_t now() const { return now_; }

 private:
  std::unique_ptr<FlowControl> flow_;
  std::int64_t forward_;
  std::int64_t back_;
  std::int64_t now_ = 0;
  std::deque<std::int64_t> words_;  // when each arrives
  std::deque<std::pair<std::int64_t, FlowControl::Feedback>> feedback_;
};

}  // namespace fabricmark::network
