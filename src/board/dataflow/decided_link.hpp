#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "board/dataflow/peers.hpp"
#include "board/dataflow/worker.hpp"
#include "network/flow_control.hpp"
#include "network/time.hpp"

namespace fabricmark::dataflow {

class Channel;

/// Where an event of a link happens: on a device and a port, and who decides there; null in another process.
struct Place {
  int device = 0;
  int port = 0;
  Worker* worker = nullptr;
};

/// A direction of a link whose flow control can lose words or stop the sender late: what becomes of a word
/// depends on times, so that each is decided when all before it is known. Slower than credits, whose times
/// follow from each other.
class DecidedLink {
 public:
  DecidedLink(Channel& channel, const network::FlowSettings& flow, Time word_time, Time latency,
              Time back_latency, const Place& from, const Place& to);
  ~DecidedLink();
  DecidedLink(const DecidedLink&) = delete;
  DecidedLink& operator=(const DecidedLink&) = delete;

  // By the kernel that runs, which is the writer or the reader; push and pop return how long it had to wait.

  struct Stall {
    Time for_link = 0;
    Time for_space = 0;
  };
  Stall push(Kernel& writer, std::span<const std::byte> word);
  Time pop(Kernel& reader, std::span<std::byte> word);
  bool is_empty(Kernel& reader);
  bool is_full(Kernel& writer);

  /// While neither end runs: what one has sent to the other becomes due there. False where that is nothing.
  bool meet();
  // What goes to another process, and comes from there.
  [[nodiscard]] bool has_untold(bool is_writer) const;
  void pack(Packet& packet, bool is_writer);
  void unpack(Packet& packet, bool is_writer, std::size_t word_bytes);
  [[nodiscard]] std::uint64_t overruns() const { return flow_->overruns(); }
  /// Words in the buffer and under way.
  [[nodiscard]] std::uint64_t fill() const;
  [[nodiscard]] std::size_t places() const { return flow_->places(); }

 private:
  struct Word {
    Time arrives;
    std::vector<std::byte> bytes;
  };
  struct Told {
    Time arrives;
    network::FlowControl::Feedback feedback;
  };
  class AtWriter;
  class AtReader;

  Channel& channel_;
  std::unique_ptr<network::FlowControl> flow_;
  bool is_controlled_;
  Time word_time_;
  Time latency_;
  Time back_latency_;
  std::unique_ptr<AtWriter> writer_;
  std::unique_ptr<AtReader> reader_;
};

}  // namespace fabricmark::dataflow
