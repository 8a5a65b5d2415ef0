#pragma once

#include <cstddef>
#include <vector>

#include "microbench/omb/carrier.hpp"

namespace fabricmark::microbench::omb {

/// Tags as OMB has them: messages, and the answer that a window has arrived.
inline constexpr int kMessageTag = 100;
inline constexpr int kAnswerTag = 101;
inline constexpr std::size_t kAnswerBytes = 4;

/// Where the messages of a size lie in a rank's memory, of what is sent and of what is received alike. The
/// answer lies behind them.
struct Slots {
  std::size_t bytes = 0;   ///< of a message
  std::size_t stride = 0;  ///< from one to the next
  std::size_t count = 1;

  [[nodiscard]] std::size_t place(std::size_t number) const { return number % count * stride; }
  [[nodiscard]] std::size_t behind(std::size_t slot) const { return slot + 1 == count ? 0 : slot + 1; }
  [[nodiscard]] std::size_t answer() const { return count * stride; }
  [[nodiscard]] std::size_t total() const { return answer() + stride; }
};

/// One rank of two that exchange messages: what the files of programs/ are written with.
class Pair {
 public:
  Pair(Carrier& carrier, int peer, bool is_first) : carrier_(carrier), peer_(peer), is_first_(is_first) {}

  [[nodiscard]] bool is_first() const { return is_first_; }
  [[nodiscard]] int peer() const { return peer_; }
  /// Where messages lie from now on, and how many of them are a window.
  void set(const Slots& slots, int window) {
    slots_ = slots;
    window_ = static_cast<std::size_t>(window);
  }
  /// The next round's first message is that of this slot. To be called before its clock: a division takes as
  /// long as a tenth of a short message.
  void begin_at(std::size_t slot) {
    first_ = slots_.count == 1 ? 0 : slot % slots_.count;
    place_ = first_ * slots_.stride;
  }

  void send() { carrier_.send(peer_, place_, slots_.bytes, kMessageTag); }
  void receive() { carrier_.receive(peer_, place_, slots_.bytes, kMessageTag); }
  void start_sends() {
    std::size_t slot = first_;
    for (std::size_t i = 0; i < window_; ++i, slot = slots_.behind(slot))
      carrier_.start_send(peer_, slot * slots_.stride, slots_.bytes, kMessageTag);
  }
  void start_receives() {
    std::size_t slot = first_;
    for (std::size_t i = 0; i < window_; ++i, slot = slots_.behind(slot))
      carrier_.start_receive(peer_, slot * slots_.stride, slots_.bytes, kMessageTag);
  }
  void wait_all() { carrier_.wait_all(); }
  void answer() { carrier_.send(peer_, slots_.answer(), kAnswerBytes, kAnswerTag); }
  void await_answer() { carrier_.receive(peer_, slots_.answer(), kAnswerBytes, kAnswerTag); }

 private:
  Carrier& carrier_;
  int peer_;
  bool is_first_;
  Slots slots_;
  std::size_t window_ = 1;
  std::size_t first_ = 0;  // slot
  std::size_t place_ = 0;  // of it, in bytes
};

}  // namespace fabricmark::microbench::omb
