#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

namespace fabricmark::dataflow {

/// Which hosts of a process run and which wait. While all wait, one of their threads lets the fabric advance,
/// and none of them runs meanwhile.
class HostBarrier {
 public:
  /// `advance` goes on until something has happened that a host may wait for.
  HostBarrier(int hosts, std::function<void()> advance)
      : advance_(std::move(advance)), hosts_(hosts), running_(hosts) {}

  /// Guards what hosts ask for in `wait`; not held by `advance`.
  std::mutex& mutex() { return mutex_; }
  /// By a host that runs: until that is so. Throws what has failed.
  void wait(const std::function<bool()>& is_so);
  /// By a host that waits for another rank, after each look in vain. It counts as waiting when it has looked
  /// twice since a host ran last, as that may have sent it what it waits for.
  void pass(int host);
  void stop_passing(int host) noexcept;
  void leave(int host, bool has_failed);
  /// Ends all waits.
  void fail(const std::exception_ptr& failure);

  /// For `advance`: hosts that have not left, and those that wait for other ranks.
  [[nodiscard]] int hosts() const { return hosts_; }
  [[nodiscard]] std::vector<int> passing() const;

 private:
  struct Passing {
    std::uint64_t looked_at = 0;     // of the last look, what last_run_ was
    std::uint64_t confirmed_at = 0;  // a look in vain began and ended so
  };
  [[nodiscard]] bool all_wait() const;
  void advance(std::unique_lock<std::mutex>& lock);

  std::function<void()> advance_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int hosts_;
  int running_;
  std::list<const std::function<bool()>*> waiting_;
  std::map<int, Passing> passing_;
  std::uint64_t last_run_ = 1;  // counts how often a host has stopped running
  bool is_advancing_ = false;
  std::exception_ptr failure_;
};

}  // namespace fabricmark::dataflow
