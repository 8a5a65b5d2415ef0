#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::microbench::omb {

/// Ends the process where a call of a library that has no deadline does not return: a message that nobody
/// sends must not hang for ever. Costs a rank two stores a call. It looks when a timer of the process sends
/// SIGALRM, as a thread of its own would have MPI lock what it keeps. One at a time.
class Watch {
 public:
  /// `ranks` may hang together: the first one that can speaks. `program` stands before its line. Collective.
  Watch(double timeout_seconds, runtime::Communicator& ranks, const std::string& program);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Around a call.
  void begin() { step(); }
  void end() { step(); }

 private:
  /// A process of another rank on this host, as a handler of signals can look at it.
  struct Other {
    std::string file;        // of the system's, with its state
    bool is_before = false;  // its rank is a smaller one
    std::string if_stopped;
    std::string if_ended;
  };
  void set_others(runtime::Communicator& ranks, const std::string& program);
  /// Whether a smaller rank speaks, or has.
  [[nodiscard]] bool leaves_it_to_another();
  /// The line that names who is to blame, where that can be seen from here.
  [[nodiscard]] const std::string& line() const;
  void step() { steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void look();
  static void at_signal(int signal);

  std::string line_;
  std::vector<Other> others_;
  int patience_;       // looks
  int last_patience_;  // with those that are to speak
  bool knows_all_before_ = false;
  int waited_ = 0;
  std::uint64_t seen_ = 0;
  std::atomic<std::uint64_t> steps_ = 0;  // odd within a call
};

}  // namespace fabricmark::microbench::omb
