#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace fabricmark::microbench::omb {

/// Ends the process where a call of a library that has no deadline does not return: a message that nobody
/// sends must not hang for ever. Costs a rank two stores a call. It looks when a timer of the process sends
/// SIGALRM, as a thread of its own would have MPI lock what it keeps. One at a time.
class Watch {
 public:
  /// `rank` of those that may hang together: the first one speaks. `program` stands before its line.
  Watch(double timeout_seconds, int rank, const std::string& program);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Around a call.
  void begin() { step(); }
  void end() { step(); }

 private:
  void step() { steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void look();
  static void at_signal(int signal);

  std::string line_;
  int patience_;  // looks
  int waited_ = 0;
  std::uint64_t seen_ = 0;
  std::atomic<std::uint64_t> steps_ = 0;  // odd within a call
};

}  // namespace fabricmark::microbench::omb
