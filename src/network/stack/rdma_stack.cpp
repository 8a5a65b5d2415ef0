// Reliable connections of InfiniBand over UDP (RoCE v2: InfiniBand Architecture Specification, volume 1,
// section 9.7 and annex A17). Every packet has a number (PSN); the last one of a message asks for an
// acknowledgement. What comes behind a gap is thrown away, and a negative acknowledgement (NAK, sequence
// error) has the sender begin again there. No window, and no control of congestion (DCQCN).
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "network/stack/packet_stack.hpp"
#include "network/stack/retransmission_time.hpp"

namespace fabricmark::network {

namespace {

class RdmaStack final : public PacketStack {
 public:
  RdmaStack(const Topology& topology, const StackSettings& settings, Listener listener)
      : PacketStack(topology, settings, bursts_or_packets(settings), std::move(listener)) {}

 private:
  struct Connection {
    explicit Connection(const RetransmissionTime& made) : time(made) {}
    // The sender's.
    std::uint64_t next = 0;  ///< to be sent; falls back when something is sent again
    std::uint64_t sent = 0;  ///< all below were sent once
    std::uint64_t unacknowledged = 0;
    std::uint64_t asked = 0;  ///< one behind the last packet that left and asks for an acknowledgement
    bool is_in_port = false;  ///< a packet waits for its port, or leaves
    Time ready = 0;           ///< the next packet has passed the device
    int retransmissions = 0;  ///< of the first unacknowledged, in a row
    RetransmissionTime time;
    // The receiver's.
    std::uint64_t expected = 0;
    bool has_complained = false;  ///< about what is expected
  };

  void on_new_flow(std::uint32_t place) override {
    connections_.emplace_back(RetransmissionTime(flow(place).round_trip, settings().retransmission_time));
  }
  void on_message(std::uint32_t place) override { send_next(place); }
  void on_left(std::uint32_t place, std::uint64_t segment) override;
  void on_segment(std::uint32_t place, std::uint64_t segment) override;
  void on_acknowledgement(std::uint32_t place, std::uint64_t value) override;
  void on_time_out(std::uint32_t place) override;
  void on_receiver_died(std::uint32_t place) override { start_timer(place); }

  void send_next(std::uint32_t place);
  void progress(std::uint32_t place, std::uint64_t expected);
  void begin_again(std::uint32_t place);
  void start_timer(std::uint32_t place);

  std::deque<Connection> connections_;
};

void RdmaStack::send_next(std::uint32_t place) {
  Connection& connection = connections_[place];
  if (connection.is_in_port || connection.next == flow(place).segments) return;
  connection.is_in_port = true;
  const std::uint64_t before = counters().packets;
  transmit(place, connection.next, std::max(now(), connection.ready));
  if (connection.next < connection.sent) counters().retransmitted += counters().packets - before;
  connection.sent = std::max(connection.sent, ++connection.next);
}

void RdmaStack::on_left(std::uint32_t place, std::uint64_t segment) {
  Connection& connection = connections_[place];
  connection.is_in_port = false;
  const bool is_asking =
      segment >= connection.unacknowledged && message_of(flow(place), segment).end() == segment + 1;
  if (is_asking && segment < connection.next) {  // else it begins again before
    connection.asked = std::max(connection.asked, segment + 1);
    if (connection.retransmissions == 0) connection.time.left(segment, now());
    if (!timers().is_set(place)) start_timer(place);
  }
  send_next(place);
}

/// While an acknowledgement is asked for.
void RdmaStack::start_timer(std::uint32_t place) {
  const Connection& connection = connections_[place];
  if (connection.unacknowledged < connection.asked && needs_time_outs(flow(place))) {
    timers().set(place, later(now(), connection.time.value()));
  } else {
    timers().clear(place);
  }
}

void RdmaStack::on_segment(std::uint32_t place, std::uint64_t segment) {
  Connection& connection = connections_[place];
  const auto answer = [&](bool is_complaint) {
    acknowledge(place, connection.expected << 1U | (is_complaint ? 1U : 0U));
  };
  if (segment > connection.expected) {
    ++counters().early;
    if (!std::exchange(connection.has_complained, true)) answer(true);
    return;
  }
  if (segment < connection.expected) {
    ++counters().duplicates;
    // The acknowledgement may have been lost. Where the sender had it, nobody knows the message any more.
    if (segment < connection.unacknowledged || message_of(flow(place), segment).end() == segment + 1) {
      answer(false);
    }
    return;
  }
  const bool is_last = message_of(flow(place), segment).end() == segment + 1;
  ++connection.expected;
  connection.has_complained = false;
  tell_arrivals(place, segment, segment + 1, false);
  if (is_last) answer(false);
}

/// `value`: all segments below half of it have come; odd where the next one was missed.
void RdmaStack::on_acknowledgement(std::uint32_t place, std::uint64_t value) {
  Connection& connection = connections_[place];
  const std::uint64_t expected = value >> 1U;
  if (expected < connection.unacknowledged) return;
  if (expected > connection.unacknowledged) progress(place, expected);
  if ((value & 1U) != 0 && expected < connection.next) begin_again(place);
  if (!flow(place).has_failed) send_next(place);
}

void RdmaStack::progress(std::uint32_t place, std::uint64_t expected) {
  Connection& connection = connections_[place];
  connection.unacknowledged = expected;
  connection.next = std::max(connection.next, expected);
  connection.retransmissions = 0;
  connection.time.acknowledged(expected, now());
  complete_messages(place, expected);
  start_timer(place);
}

void RdmaStack::begin_again(std::uint32_t place) {
  Connection& connection = connections_[place];
  if (connection.retransmissions == settings().most_retransmissions) {
    give_up(place);
    return;
  }
  ++connection.retransmissions;
  connection.next = connection.asked = connection.unacknowledged;
  connection.ready = later(now(), lookahead());
  connection.time.sent_again();
  timers().clear(place);
}

void RdmaStack::on_time_out(std::uint32_t place) {
  connections_[place].time.back_off();
  begin_again(place);
  if (!flow(place).has_failed) send_next(place);
}

}  // namespace

std::unique_ptr<Stack> make_rdma(const Topology& topology, const StackSettings& settings,
                                 Stack::Listener listener) {
  return std::make_unique<RdmaStack>(topology, settings, std::move(listener));
}

}  // namespace fabricmark::network
