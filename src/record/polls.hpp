#pragma once

#include <cstddef>
#include <cstdint>

namespace fabricmark::record {

/// Tests for messages that have not come, between two calls that did something. Where the program works in
/// between, they cost what a test costs and the program goes on; where it does nothing else, they are a wait.
class Polls {
 public:
  /// What tests take on this machine where nothing is done between them.
  struct Costs {
    double gap_seconds = 0;    ///< from the end of one to the begin of the next: the recorder's own
    double extra_seconds = 0;  ///< that the recorder adds to one
  };
  struct Sum {
    double compute_seconds = 0;  ///< between tests, without the recorder's own
    double waited_seconds = 0;   ///< in tests between which the program does nothing, and between these
    std::uint64_t tests = 0;     ///< of a program that works in between
    double test_seconds = 0;     ///< in these, without the recorder's own
    double own_seconds = 0;      ///< of the recorder, which is in none of the others
  };

  Polls() = default;
  explicit Polls(const Costs& costs) : costs_(costs) {}

  /// A test, and the time since the call before it.
  void add(double gap_seconds, double inside_seconds);
  /// Of all since the last time.
  Sum take();

 private:
  static constexpr std::size_t kBatch = 16;  ///< tests that are told apart from others together

  void settle();

  Costs costs_{};
  Sum sum_{};
  bool is_first_ = true;
  std::size_t tests_ = 0;  ///< of the batch, as what follows
  std::size_t gaps_ = 0;
  double gap_seconds_ = 0;
  double inside_seconds_ = 0;
};

}  // namespace fabricmark::record
