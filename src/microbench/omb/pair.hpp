#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "microbench/omb/carrier.hpp"

namespace fabricmark::microbench::omb {

/// Tags as OMB has them: messages, and the answer that a window has arrived.
inline constexpr int kMessageTag = 100;
inline constexpr int kAnswerTag = 101;
inline constexpr std::size_t kAnswerBytes = 4;

/// Where the messages of a size lie in a rank's memory, of what is sent and of what is received alike. The
/// answer lies before them.
struct Slots {
  std::size_t bytes = 0;   ///< of a message
  std::size_t stride = 0;  ///< from one to the next
  std::size_t count = 1;

  [[nodiscard]] std::size_t place(std::size_t slot) const { return (slot + 1) * stride; }
  [[nodiscard]] std::size_t behind(std::size_t slot) const { return slot + 1 == count ? 0 : slot + 1; }
  [[nodiscard]] static std::size_t answer() { return 0; }
  [[nodiscard]] std::size_t total() const { return place(count); }
};

/// One rank of two that exchange messages: what rounds of programs are written with.
class Pair {
 public:
  Pair(Carrier& carrier, int peer, bool is_first) : carrier_(carrier), peer_(peer), is_first_(is_first) {}

  [[nodiscard]] bool is_first() const { return is_first_; }
  [[nodiscard]] int peer() const { return peer_; }
  /// Where messages lie from now on, and how many of them are a window. With `order` its messages lie in
  /// these slots, else one after the other.
  void set(const Slots& slots, std::size_t window, std::vector<std::size_t> order = {}) {
    slots_ = slots;
    window_ = window;
    order_ = std::move(order);
    begin_at(0);
  }
  /// The next round's first message is that of this slot. To be called before its clock: a division takes as
  /// long as a tenth of a short message.
  void begin_at(std::size_t slot) {
    first_ = slots_.count == 1 ? 0 : slot % slots_.count;
    place_ = slots_.place(first_);
  }

  void send() { carrier_.send(peer_, place_, slots_.bytes, kMessageTag); }
  void receive() { carrier_.receive(peer_, place_, slots_.bytes, kMessageTag); }
  void start_sends() {
    each_of_window(
        [this](std::size_t place) { carrier_.start_send(peer_, place, slots_.bytes, kMessageTag); });
  }
  void start_receives() {
    each_of_window(
        [this](std::size_t place) { carrier_.start_receive(peer_, place, slots_.bytes, kMessageTag); });
  }
  void wait_all() { carrier_.wait_all(); }
  void answer() { carrier_.send(peer_, Slots::answer(), kAnswerBytes, kAnswerTag); }
  void await_answer() { carrier_.receive(peer_, Slots::answer(), kAnswerBytes, kAnswerTag); }

 private:
  template <typename Start>
  void each_of_window(const Start& start) {
    for (const std::size_t slot : order_) start(slots_.place(slot));
    if (!order_.empty()) return;
    std::size_t slot = first_;
    for (std::size_t i = 0; i < window_; ++i, slot = slots_.behind(slot)) start(slots_.place(slot));
  }

  Carrier& carrier_;
  int peer_;
  bool is_first_;
  Slots slots_;
  std::size_t window_ = 1;
  std::vector<std::size_t> order_;
  std::size_t first_ = 0;  // slot
  std::size_t place_ = 0;  // of it, in bytes
};

}  // namespace fabricmark::microbench::omb
