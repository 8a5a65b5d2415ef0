#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "network/event_core.hpp"
#include "network/packet_network.hpp"
#include "network/stack/flow_timers.hpp"
#include "network/stack/packets_in_flight.hpp"
#include "network/stack/stack.hpp"
#include "network/time.hpp"
#include "network/topology.hpp"

namespace fabricmark::network {

/// How a protocol cuts messages.
struct Segmentation {
  std::uint64_t segment_bytes = 0;  ///< the most payload of a segment; 0: a message is one
  /// A segment of several packets goes through the network as one, with all their headers.
  bool is_merged = false;
};

/// What all protocols share: flows, their messages as numbered segments, packets in the network and what goes
/// wrong with them, acknowledgements, time-outs and dead devices.
///
/// A flow carries the messages from one device to another, one after the other. Each message is cut into
/// segments of the same size, the last one excepted: they are numbered through the flow, and are always sent
/// as they were cut. What the two ends of a flow do with them is the protocol's.
///
/// Three lists of events are merged, the earliest first: the network's, what the stack itself does later, and
/// time-outs. At one time the network goes first, so that what comes in time is not too late, and time-outs
/// last. Of the stack's own events at one time devices die first, then come late packets, late
/// acknowledgements, acknowledgements that are due, and messages begin: each by flow and number.
class PacketStack : public Stack {
 public:
  void send(Time at, int from, int to, std::uint64_t id, std::uint64_t bytes) final;
  void kill(Time at, int device) final;
  [[nodiscard]] Time next_time() const final;
  void advance_until(Time end) final;
  [[nodiscard]] Time lookahead() const final { return settings_.costs.node_latency; }
  [[nodiscard]] const Counters& counters() const final { return counters_; }
  [[nodiscard]] const PacketNetwork& network() const final { return network_; }

 protected:
  struct Message {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    std::uint64_t first_byte = 0;     ///< in the flow
    std::uint64_t first_segment = 0;  ///< in the flow
    std::uint64_t segments = 0;
    [[nodiscard]] std::uint64_t end() const { return first_segment + segments; }
  };
  struct Flow {
    int from = 0;
    int to = 0;
    bool has_failed = false;       ///< given up: nothing comes or goes any more
    Time round_trip = 0;           ///< of a full packet and its acknowledgement in an empty network
    std::uint64_t segments = 0;    ///< of all messages so far
    std::uint64_t bytes = 0;       ///< of all messages so far
    std::deque<Message> messages;  ///< that an end of the flow still needs
    PacketsInFlight packets;
    PacketsInFlight acknowledgements;
  };

  PacketStack(const Topology& topology, const StackSettings& settings, const Segmentation& segmentation,
              Listener listener);

  // What a protocol does. Flows are known by their place in flows(). Of a device that is dead nothing is
  // asked, but that it died.
  virtual void on_new_flow(std::uint32_t flow) = 0;
  /// The last message of the flow has passed its device's latency: its packets may leave at once.
  virtual void on_message(std::uint32_t flow) = 0;
  virtual void on_left(std::uint32_t flow, std::uint64_t segment) = 0;
  virtual void on_segment(std::uint32_t flow, std::uint64_t segment) = 0;
  /// The segment's packet will not come.
  virtual void on_lost(std::uint32_t /*flow*/, std::uint64_t /*segment*/) {}
  virtual void on_acknowledgement(std::uint32_t /*flow*/, std::uint64_t /*value*/) {}
  /// What acknowledge_later said.
  virtual void on_acknowledgement_due(std::uint32_t /*flow*/, std::uint64_t /*value*/) {}
  virtual void on_time_out(std::uint32_t flow) = 0;
  virtual void on_sender_died(std::uint32_t /*flow*/) {}
  virtual void on_receiver_died(std::uint32_t flow) = 0;

  [[nodiscard]] const StackSettings& settings() const { return settings_; }
  [[nodiscard]] Counters& counters() { return counters_; }
  [[nodiscard]] Flow& flow(std::uint32_t place) { return flows_[place]; }
  [[nodiscard]] FlowTimers& timers() { return timers_; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] bool is_dead(int device) const { return is_dead_[static_cast<std::size_t>(device)]; }
  /// Whether the sender has to expect that nothing comes back; else its time-outs would be of no use.
  [[nodiscard]] bool needs_time_outs(const Flow& flow) const {
    return may_lose_ || settings_.retransmission_time > 0 || is_dead(flow.to);
  }
  /// Of the flow, `segment` up to and with one behind the last.
  [[nodiscard]] std::uint64_t first_byte(const Flow& flow, std::uint64_t segment) const;
  /// `segment` has to belong to a message that the flow still has.
  [[nodiscard]] const Message& message_of(const Flow& flow, std::uint64_t segment) const;

  /// The segment's packet joins its port's queue at a time, not before now.
  void transmit(std::uint32_t flow, std::uint64_t segment, Time at);
  /// An acknowledgement begins its way now, from the receiver to the sender.
  void acknowledge(std::uint32_t flow, std::uint64_t value);
  void acknowledge_later(std::uint32_t flow, std::uint64_t value, Time delay);
  /// Segments up to but without `end` have come, or will not.
  void tell_arrivals(std::uint32_t flow, std::uint64_t first, std::uint64_t end, bool is_lost);
  void tell_completion(std::uint32_t flow, std::uint64_t id, bool has_failed);
  /// Of all whose segments are acknowledged; the flow forgets them.
  void complete_messages(std::uint32_t flow, std::uint64_t acknowledged);
  /// All that the flow has to send has failed, and so will what it gets to send later.
  void give_up(std::uint32_t flow);

 private:
  enum Kind : std::uint32_t { kKilled, kLatePacket, kLateAcknowledgement, kAcknowledgementDue, kBegun };

  template <void (PacketStack::*Handler)(const Event&)>
  void schedule(Time time, Kind kind, std::uint32_t place, std::uint64_t sequence, std::uint64_t value);
  void on_killed(const Event& event);
  void on_late(const Event& event);
  void on_due(const Event& event);
  void on_begun(const Event& event);

  void on_delivered(const Delivery& delivery);
  void on_departed(const Departure& departure);
  void end_packet(std::uint32_t place, bool is_acknowledgement, std::uint64_t number, std::uint64_t value);
  void receive(std::uint32_t place, bool is_acknowledgement, std::uint64_t value);
  std::uint32_t flow_between(int from, int to);
  [[nodiscard]] Time time_of_path(int from, int to, std::uint64_t payload) const;
  [[nodiscard]] std::uint64_t packets_of(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t segments_of(std::uint64_t bytes) const;
  void check_not_passed(Time at, Time start, const char* what, int device) const;

  const Topology& topology_;
  StackSettings settings_;
  Segmentation segmentation_;
  Listener listener_;
  bool may_lose_;
  bool has_faults_;
  Time delay_unit_ = 0;  ///< of packets that come late
  PacketNetwork network_;
  EventCore core_;
  FlowTimers timers_;
  Time now_ = 0;
  Counters counters_;
  std::vector<bool> is_dead_;
  std::deque<Flow> flows_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< of flows, by their devices
};

/// Whether a packet may fail to come though no device is dead.
inline bool may_lose(const StackSettings& settings) {
  const PacketFaults& faults = settings.faults;
  return faults.drop > 0 || faults.duplicate > 0 || faults.reorder > 0 ||
         settings.costs.buffering == Buffering::kDrop;
}

/// For kUdp and kRdma: packet by packet where one may be lost, else in bursts.
Segmentation bursts_or_packets(const StackSettings& settings);

// The protocols; `settings` are those that make_stack has checked.
using MakeStack = std::unique_ptr<Stack>(const Topology& topology, const StackSettings& settings,
                                         Stack::Listener listener);
MakeStack make_udp;
MakeStack make_tcp;
MakeStack make_rdma;

}  // namespace fabricmark::network
