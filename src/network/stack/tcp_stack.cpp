// The part of TCP (RFC 9293) that says how fast data goes: a session for each direction, a sliding window,
// cumulative acknowledgements and retransmission. No handshake, no congestion control (slow start, RFC 5681),
// which the stacks of FPGAs have not either, no selective acknowledgements, and no delayed ones but by the
// receiver's latency. Packets do not span messages, and the last one of a message is not held back.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "network/stack/packet_stack.hpp"
#include "network/stack/retransmission_time.hpp"

namespace fabricmark::network {

namespace {

/// No packet is larger than the window. Smaller ones never fill what is left of it: each that is sent would
/// come back as a small opening (the silly window of RFC 9293, section 3.8.6.2).
Segmentation packets_of_window(const StackSettings& settings) {
  const std::uint64_t mtu = settings.costs.mtu_bytes;
  return {.segment_bytes = mtu == 0 ? settings.window_bytes : std::min(mtu, settings.window_bytes)};
}

class TcpStack final : public PacketStack {
 public:
  TcpStack(const Topology& topology, const StackSettings& settings, Listener listener)
      : PacketStack(topology, settings, packets_of_window(settings), std::move(listener)) {}

 private:
  struct Session {
    explicit Session(const RetransmissionTime& made) : time(made) {}
    // The sender's.
    std::uint64_t next = 0;            ///< to be sent
    std::uint64_t left = 0;            ///< all below have left the device once
    std::uint64_t unacknowledged = 0;  ///< the first one
    Time ready = 0;                    ///< when the last packet had passed the device: none overtakes it
    std::uint64_t recovery_end = 0;    ///< what was lost before is being repaired; until this is acknowledged
    bool is_recovering = false;
    int duplicates = 0;       ///< acknowledgements in a row that said nothing new
    int retransmissions = 0;  ///< of the first unacknowledged, in a row
    RetransmissionTime time;
    // The receiver's.
    std::uint64_t expected = 0;
    std::set<std::uint64_t> early;  ///< have come behind a gap
  };

  void on_new_flow(std::uint32_t place) override;
  void on_message(std::uint32_t place) override { send_more(place); }
  void on_left(std::uint32_t place, std::uint64_t segment) override;
  void on_segment(std::uint32_t place, std::uint64_t segment) override;
  void on_acknowledgement(std::uint32_t place, std::uint64_t value) override;
  void on_acknowledgement_due(std::uint32_t place, std::uint64_t value) override {
    acknowledge(place, value);
  }
  void on_time_out(std::uint32_t place) override;
  void on_receiver_died(std::uint32_t place) override { start_timer(place); }

  void send_more(std::uint32_t place, Time delay = 0);
  void accept(std::uint32_t place, std::uint64_t segment);
  void progress(std::uint32_t place, std::uint64_t value);
  void retransmit(std::uint32_t place);
  void recover(std::uint32_t place);
  void start_timer(std::uint32_t place);

  static constexpr int kDuplicates = 3;  // RFC 5681, section 3.2
  std::deque<Session> sessions_;
};

void TcpStack::on_new_flow(std::uint32_t place) {
  const Time unloaded = later(flow(place).round_trip, settings().receive_latency);
  sessions_.emplace_back(RetransmissionTime(unloaded, settings().retransmission_time));
}

/// What the window takes. After an acknowledgement a packet passes the device first: `delay`.
void TcpStack::send_more(std::uint32_t place, Time delay) {
  Session& session = sessions_[place];
  const Flow& of = flow(place);
  if (session.next == of.segments) return;
  const std::uint64_t limit = first_byte(of, session.unacknowledged) + settings().window_bytes;
  while (session.next < of.segments && first_byte(of, session.next + 1) <= limit) {
    session.ready = std::max(session.ready, later(now(), delay));
    transmit(place, session.next++, session.ready);
  }
}

void TcpStack::on_left(std::uint32_t place, std::uint64_t segment) {
  Session& session = sessions_[place];
  if (segment >= session.left) {
    session.left = segment + 1;
    session.time.left(segment, now());
  }
  if (!timers().is_set(place)) start_timer(place);
}

/// RFC 6298, section 5: while something that has left is not acknowledged.
void TcpStack::start_timer(std::uint32_t place) {
  const Session& session = sessions_[place];
  if (session.unacknowledged < session.left && needs_time_outs(flow(place))) {
    timers().set(place, later(now(), session.time.value()));
  } else {
    timers().clear(place);
  }
}

void TcpStack::on_segment(std::uint32_t place, std::uint64_t segment) {
  Session& session = sessions_[place];
  if (segment < session.expected || session.early.contains(segment)) {
    ++counters().duplicates;
  } else {
    accept(place, segment);
  }
  // All acknowledgements wait until what came has left the receive buffer, so that they stay in order.
  if (settings().receive_latency > 0) {
    acknowledge_later(place, session.expected, settings().receive_latency);
  } else {
    acknowledge(place, session.expected);
  }
}

void TcpStack::accept(std::uint32_t place, std::uint64_t segment) {
  Session& session = sessions_[place];
  if (segment > session.expected) {
    session.early.insert(segment);
    return;
  }
  const std::uint64_t first = session.expected++;
  while (!session.early.empty() && *session.early.begin() == session.expected) {
    session.early.erase(session.early.begin());
    ++session.expected;
  }
  tell_arrivals(place, first, session.expected, false);
}

/// `value`: all segments below it have come.
void TcpStack::on_acknowledgement(std::uint32_t place, std::uint64_t value) {
  Session& session = sessions_[place];
  if (value > session.unacknowledged) {
    progress(place, value);
  } else if (value == session.unacknowledged && value < session.left && !session.is_recovering &&
             ++session.duplicates == kDuplicates) {
    recover(place);
  }
  if (!flow(place).has_failed) send_more(place, lookahead());
}

void TcpStack::progress(std::uint32_t place, std::uint64_t value) {
  Session& session = sessions_[place];
  session.unacknowledged = value;
  session.duplicates = 0;
  session.retransmissions = 0;
  session.time.acknowledged(value, now());
  complete_messages(place, value);
  start_timer(place);
  if (value >= session.recovery_end) {
    session.is_recovering = false;
  } else if (session.is_recovering) {
    retransmit(place);  // the next gap (RFC 6582)
  }
}

/// From a loss: the first gap is sent again, and with its acknowledgement the next one.
void TcpStack::recover(std::uint32_t place) {
  Session& session = sessions_[place];
  session.is_recovering = true;
  session.recovery_end = session.next;
  retransmit(place);
}

void TcpStack::retransmit(std::uint32_t place) {
  Session& session = sessions_[place];
  if (session.retransmissions == settings().most_retransmissions) {
    give_up(place);
    return;
  }
  ++session.retransmissions;
  ++counters().retransmitted;
  session.time.sent_again();
  transmit(place, session.unacknowledged, later(now(), lookahead()));
}

void TcpStack::on_time_out(std::uint32_t place) {
  sessions_[place].time.back_off();
  recover(place);
}

}  // namespace

std::unique_ptr<Stack> make_tcp(const Topology& topology, const StackSettings& settings,
                                Stack::Listener listener) {
  return std::make_unique<TcpStack>(topology, settings, std::move(listener));
}

}  // namespace fabricmark::network
