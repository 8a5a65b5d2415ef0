#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace fabricmark::microbench::omb {

/// Ends the process where a call of a library that has no deadline does not return: a message that nobody
/// sends must not hang for ever. Costs a rank two stores a call.
class Watch {
 public:
  /// `rank` of those that may hang together: the first one speaks. `program` stands before its line.
  Watch(double timeout_seconds, int rank, std::string program);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Around a call.
  void begin() { step(); }
  void end() { step(); }

 private:
  void step() { steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void run();

  std::chrono::duration<double> timeout_;
  int rank_;
  std::string program_;
  std::atomic<std::uint64_t> steps_ = 0;  // odd within a call
  std::mutex mutex_;
  std::condition_variable ends_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace fabricmark::microbench::omb
