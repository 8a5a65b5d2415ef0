#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/b_eff/exchanges.hpp"
#include "transport/transport.hpp"

namespace fabricmark::b_eff {

/// Messages of one size in a row, to both neighbours at once. Each has a place of its own in the buffers,
/// which is poisoned before and compared byte by byte after, outside of the timing; the next is sent when the
/// one before has arrived.
class Series {
 public:
  Series(transport::Transport& transport, runtime::Communicator& ranks, std::size_t largest_bytes,
         std::size_t room_bytes);

  /// Prepares `count` messages of `bytes` for this repetition: writes what is sent, poisons what is received.
  /// Without `has_bytes` it is only known how many and how long they are.
  void prepare(std::size_t bytes, std::size_t count, std::uint32_t repetition, bool has_bytes = true);
  /// One message in both directions; `place` from 0 to count - 1.
  void exchange(std::size_t place);
  /// Messages to and from both neighbours, for transports whose steps are taken one by one.
  [[nodiscard]] std::array<transport::Message, kDirections> sends(std::size_t place) const;
  [[nodiscard]] std::array<transport::Message, kDirections> receives(std::size_t place) const;
  /// Compares all bytes that were received in a direction and adds to its verdict.
  void check(std::size_t direction, runtime::Verdict& verdict);
  /// Compares messages that lie as `sends` or `receives` of each place, one place behind the other.
  void check_staged(std::span<const std::byte> staged, bool are_received, const std::string& step,
                    runtime::Verdict& verdict) const;
  /// Changes the first received message to the right, after it arrived.
  void corrupt(const std::function<void(std::span<std::byte>)>& change);
  /// Whether the messages lie in the host's memory.
  [[nodiscard]] bool is_on_host() const { return !is_staged(*outgoing_); }
  /// Bytes of the messages of one place, and of all.
  [[nodiscard]] std::size_t place_bytes() const { return kDirections * bytes_; }
  [[nodiscard]] std::size_t all_bytes() const { return count_ * place_bytes(); }

 private:
  [[nodiscard]] std::size_t offset(std::size_t direction, std::size_t place) const;
  /// Whether the host sees this memory only through copies.
  static bool is_staged(const transport::Memory& buffer) { return !device::is_on_host(buffer.space()); }
  /// Where the host prepares or checks the messages of one direction: in place where it can, so that their
  /// way through the caches is that of a program that computes on them.
  std::span<std::byte> view(transport::Memory& buffer, std::size_t direction);
  [[nodiscard]] int neighbour(std::size_t direction) const { return neighbours_[direction]; }
  void check_message(std::span<const std::byte> message, int sender, std::size_t direction, std::size_t place,
                     const std::string& step, runtime::Verdict& verdict) const;

  transport::Transport& transport_;
  runtime::Communicator& ranks_;
  std::size_t room_;  ///< bytes for each direction
  std::array<int, kDirections> neighbours_;
  std::unique_ptr<transport::Memory> outgoing_;
  std::unique_ptr<transport::Memory> incoming_;
  std::vector<std::byte> host_;  ///< staging of both directions, where the host sees only copies
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
  std::uint32_t repetition_ = 0;
};

}  // namespace fabricmark::b_eff
