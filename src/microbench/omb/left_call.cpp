#include "microbench/omb/left_call.hpp"

#include <utility>

namespace fabricmark::microbench::omb {

void LeftCall::begin(std::function<void()> body) {
  body_ = std::move(body);
  thrown_ = nullptr;
  fiber_.emplace(stacks_, [this] {
    try {
      body_();
    } catch (const dataflow::Fiber::Cancelled&) {
      throw;
    } catch (...) {
      thrown_ = std::current_exception();
    }
  });
  look();
}

bool LeftCall::look() {
  if (!fiber_) return true;
  fiber_->resume();
  if (!fiber_->has_ended()) return false;
  fiber_.reset();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return true;
}

}  // namespace fabricmark::microbench::omb
