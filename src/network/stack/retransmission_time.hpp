#pragma once

#include <algorithm>
#include <cstdint>

#include "network/time.hpp"

namespace fabricmark::network {

/// How long a sender waits for an acknowledgement (RFC 6298): from what round trips took, SRTT + 4 RTTVAR,
/// and twice as long after each time-out in a row. The RFC waits a second at least, and at first, as the
/// Internet needs it. Here it is four round trips of a packet that has the network for itself.
class RetransmissionTime {
 public:
  /// `fixed`: in place of all that, where it is not 0.
  RetransmissionTime(Time unloaded, Time fixed) : is_fixed_(fixed > 0) {
    least_ = base_ = is_fixed_ ? fixed : times(kLeastRoundTrips, unloaded);
  }
  [[nodiscard]] Time value() const { return times(std::int64_t{1} << doublings_, base_); }
  void back_off() { doublings_ = std::min(doublings_ + 1, kMostDoublings); }

  /// A packet has left that was sent once (Karn's algorithm): its round trip is taken, one at a time.
  void left(std::uint64_t segment, Time at) {
    if (is_sampling_) return;
    is_sampling_ = true;
    sampled_ = segment;
    sampled_left_ = at;
  }
  /// Something is sent again: nobody could tell which one is acknowledged.
  void sent_again() { is_sampling_ = false; }
  /// All below `end` are acknowledged, some for the first time: what follows does not pay for what was lost.
  void acknowledged(std::uint64_t end, Time at) {
    doublings_ = 0;
    if (!is_sampling_ || end <= sampled_) return;
    is_sampling_ = false;
    sample(at - sampled_left_);
  }

 private:
  static constexpr std::int64_t kLeastRoundTrips = 4;
  static constexpr int kMostDoublings = 10;

  void sample(Time round_trip) {
    if (is_fixed_) return;
    if (smoothed_ == 0) {
      smoothed_ = round_trip;
      variation_ = round_trip / 2;
    } else {
      variation_ +=
          ((smoothed_ > round_trip ? smoothed_ - round_trip : round_trip - smoothed_) - variation_) / 4;
      smoothed_ += (round_trip - smoothed_) / 8;
    }
    base_ = std::max(least_, later(smoothed_, times(4, variation_)));
  }

  bool is_fixed_;
  Time least_ = 0;
  Time base_ = 0;
  Time smoothed_ = 0;
  Time variation_ = 0;
  int doublings_ = 0;
  bool is_sampling_ = false;
  std::uint64_t sampled_ = 0;  // whose round trip is being taken
  Time sampled_left_ = 0;
};

}  // namespace fabricmark::network
