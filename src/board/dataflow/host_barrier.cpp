#include "board/dataflow/host_barrier.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "runtime/communicator.hpp"

namespace fabricmark::dataflow {

bool HostBarrier::all_wait() const {
  // A host that has what it waits for runs, though its thread may not know yet.
  return running_ == 0 && std::ranges::none_of(waiting_, [](const auto* is_so) { return (*is_so)(); }) &&
         std::ranges::all_of(passing_,
                             [this](const auto& one) { return one.second.confirmed_at == last_run_; });
}

void HostBarrier::advance(std::unique_lock<std::mutex>& lock) {
  is_advancing_ = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    advance_();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  is_advancing_ = false;
  if (failure && !failure_) failure_ = failure;
  // Nobody is woken up in vain: ends of kernels are many.
  const bool is_anybodys = std::ranges::any_of(waiting_, [](const auto* is_so) { return (*is_so)(); });
  if (failure_ || is_anybodys || !passing_.empty()) changed_.notify_all();
}

void HostBarrier::wait(const std::function<bool()>& is_so) {
  std::unique_lock lock(mutex_);
  --running_;
  ++last_run_;
  const auto own = waiting_.insert(waiting_.end(), &is_so);
  // Whatever has come while the fabric advances, no host runs before it has stopped.
  while (is_advancing_ || (!failure_ && !is_so())) {
    if (all_wait() && !is_advancing_) {
      advance(lock);
    } else {
      changed_.wait(lock);
    }
  }
  waiting_.erase(own);
  ++running_;
  if (!is_so()) std::rethrow_exception(failure_);
}

void HostBarrier::pass(int host) {
  std::unique_lock lock(mutex_);
  const auto [own, is_new] = passing_.try_emplace(host);
  if (is_new) {
    --running_;
    ++last_run_;
  } else if (own->second.looked_at == last_run_) {
    own->second.confirmed_at = last_run_;
  }
  own->second.looked_at = last_run_;
  if (all_wait() && !is_advancing_ && !failure_) advance(lock);
  if (failure_) std::rethrow_exception(failure_);
}

void HostBarrier::stop_passing(int host) noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_advancing_; });
  passing_.erase(host);
  ++running_;
}

void HostBarrier::leave(int host, bool has_failed) {
  const std::scoped_lock lock(mutex_);
  --running_;
  --hosts_;
  ++last_run_;
  // What it throws comes to all ranks by their communicator.
  if (has_failed && !failure_) failure_ = std::make_exception_ptr(runtime::PeerFailure(host, {}));
  changed_.notify_all();
}

void HostBarrier::fail(const std::exception_ptr& failure) {
  const std::scoped_lock lock(mutex_);
  if (!failure_) failure_ = failure;
  changed_.notify_all();
}

std::vector<int> HostBarrier::passing() const {
  std::vector<int> hosts;
  for (const auto& [host, state] : passing_) hosts.push_back(host);
  return hosts;
}

}  // namespace fabricmark::dataflow
