#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace fabricmark::network {

/// What packets of a flow carry that have not ended, by their numbers in the order in which they were sent.
class PacketsInFlight {
 public:
  /// The number of a packet, which is kept until `release` was called so many times.
  std::uint64_t add(std::uint64_t value, int releases) {
    packets_.push_back({value, releases});
    return first_ + packets_.size() - 1;
  }
  [[nodiscard]] std::uint64_t value(std::uint64_t number) const { return packets_[place(number)].value; }
  void release(std::uint64_t number) {
    --packets_[place(number)].releases;
    while (!packets_.empty() && packets_.front().releases == 0) {
      packets_.pop_front();
      ++first_;
    }
  }

 private:
  struct Packet {
    std::uint64_t value = 0;
    int releases = 0;
  };
  [[nodiscard]] std::size_t place(std::uint64_t number) const {
    return static_cast<std::size_t>(number - first_);
  }

  std::deque<Packet> packets_;
  std::uint64_t first_ = 0;  ///< number of the first one
};

}  // namespace fabricmark::network
