#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "network/event_core.hpp"
#include "network/time.hpp"
#include "network/topology.hpp"

namespace fabricmark::network {

/// When a node sends on what it receives.
enum class Forwarding {
  kCutThrough,       ///< as soon as the header is there
  kStoreAndForward,  ///< when the whole packet is there
};

/// What happens where packets come faster than they leave.
enum class Buffering {
  kUnlimited,
  kCredits,  ///< a packet leaves only when the next node has room for it
  kDrop,     ///< what finds no room is lost, and counted
};

/// What a packet costs; the same on all cables.
struct PacketCosts {
  Time node_latency =
      0;  ///< of a device: to start a message, and to pass a packet on, from its first bit in to out
  Time cable_latency = 0;  ///< of a cable with its transceivers
  Time switch_latency =
      0;  ///< from the first bit in to the first bit out; to receive the header is part of it
  double bytes_per_second = 0;     ///< of a cable in one direction, headers counted
  std::uint64_t header_bytes = 0;  ///< of each packet, with all that the wire carries beside the payload
  std::uint64_t mtu_bytes = 0;     ///< the most payload of a packet; 0: a message is one packet
  Forwarding forwarding = Forwarding::kCutThrough;
  Buffering buffering = Buffering::kUnlimited;
  /// kDrop: of each output port. kCredits: of each input port, for each number of cables that a packet has
  /// passed: so no circle of packets can wait for each other's room, whatever the topology.
  std::uint64_t buffer_bytes = 0;
};

/// The end of a message: all its packets have arrived or are lost.
struct Delivery {
  Time time = 0;   ///< when the last one arrived, or was dropped
  int device = 0;  ///< the destination
  std::uint64_t id = 0;
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
};

/// The last packet of a message has left its device.
struct Departure {
  Time time = 0;
  int device = 0;  ///< the sender
  std::uint64_t id = 0;
};

/// What went out of a port, headers counted.
struct PortCounters {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  Time busy = 0;
  std::uint64_t largest_queue_bytes = 0;  ///< of packets on their way through: waiting, or leaving
  std::uint64_t lost_packets = 0;         ///< dropped for want of room
  std::uint64_t lost_bytes = 0;
};

/// Packets over the shared cables of a topology, in modelled time.
///
/// Each port sends at the rate of the cable what came first; of packets that came at one time that of the
/// lowest input port. A device's own messages leave one after the other, packet by packet: each packet joins
/// the queue of its port when the one before has left. All is decided by modelled time, by (time, node, port,
/// sequence) where times are the same, what leaves before what comes; in no way by the order of calls.
class PacketNetwork {
 public:
  static constexpr int kAnyPort = -1;
  using Deliver = std::function<void(const Delivery&)>;
  using Depart = std::function<void(const Departure&)>;

  /// `topology` has to live as long. `deliver` and `depart`, which may be empty, are called by advance_until,
  /// in the order of time, and may inject. Throws Error (2) for a rate that is not positive, a buffer that
  /// cannot take the largest packet, and an MTU of 0 with finite buffers.
  PacketNetwork(const Topology& topology, const PacketCosts& costs, Deliver deliver, Depart depart = {});
  PacketNetwork(const PacketNetwork&) = delete;
  PacketNetwork& operator=(const PacketNetwork&) = delete;

  /// Sends a message at a time, over the usual port to the destination or the one given; no bytes are a
  /// packet, too. A device without a loop has its own messages after the latency of a node. `id` is the
  /// caller's; of messages that one port gets at one time the lower goes first. Throws Error (2) for a device
  /// or port that is not there, and for a message that would leave before what advance_until has handled.
  void inject(Time at, int device, int destination, std::uint64_t bytes, std::uint64_t id,
              int port = kAnyPort);

  /// When something happens next; kEndOfTime where nothing does.
  [[nodiscard]] Time next_time() const { return core_.next_time(); }
  /// Handles all that happens before `end`: messages may still be injected from `end - lookahead()` on.
  void advance_until(Time end) { core_.run_until(end); }
  /// An injected message does nothing sooner than so much later.
  [[nodiscard]] Time lookahead() const { return costs_.node_latency; }

  /// Of the cable in a port, in the direction out of it.
  [[nodiscard]] const PortCounters& counters(Port port) const {
    return ports_[topology_.place(port)].counters;
  }
  [[nodiscard]] std::uint64_t lost_packets() const { return lost_packets_; }
  [[nodiscard]] std::uint64_t events() const { return core_.handled(); }
  /// Packets of a message.
  [[nodiscard]] std::uint64_t packets_of(std::uint64_t bytes) const;
  /// How long a packet with so much payload takes to leave.
  [[nodiscard]] Time packet_time(std::uint64_t payload_bytes) const {
    return wire_time(payload_bytes + costs_.header_bytes);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr int kLocal = -1;

  struct Message {
    std::uint64_t id = 0;
    std::uint64_t left_bytes = 0;  ///< that no packet has yet
    std::uint64_t unsent = 0;      ///< packets that are not made yet
    std::uint64_t packets = 0;
    std::uint64_t ended = 0;  ///< packets that have arrived or are lost
    std::uint64_t lost = 0;
    int destination = 0;
    std::uint32_t next = kNone;  ///< in the line of a port, or of free places
  };
  struct Packet {
    std::uint64_t wire_bytes = 0;
    std::uint64_t order = 0;  ///< in which it came to this node
    std::uint32_t message = 0;
    std::uint32_t next = kNone;  ///< in a queue, or of free places
    int came_by = kLocal;        ///< place of the port that sent it here
    int cables = 0;              ///< that it has passed
  };
  struct Line {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  /// What a port sends at the moment: the packet itself may be at the next node already.
  struct Leaving {
    std::uint64_t wire_bytes = 0;
    int came_by = kLocal;
    int cables = 0;
    bool is_last = false;  ///< of a device's own message
    std::uint64_t id = 0;  ///< of that message
  };
  struct OutPort {
    bool is_busy = false;
    bool has_own = false;  ///< a packet of the device's own messages is in the queue, or leaving
    std::uint64_t queued_bytes = 0;
    Leaving leaving;
    Line messages;  ///< that have packets to come
    PortCounters counters;
    Port self;
    Port other;
  };

  template <void (PacketNetwork::*Handler)(const Event&)>
  void schedule(Time time, std::uint32_t kind, Port port, std::uint64_t sequence, std::uint64_t value);
  void on_injected(const Event& event);
  void on_ready(const Event& event);
  void on_arrived(const Event& event);
  void on_left(const Event& event);
  void on_credit(const Event& event);

  void queue_next_packet(int place);
  void enqueue(int place, std::uint32_t packet);
  void serve(int place);
  void send(int place, std::uint32_t packet);
  void drop(int place, std::uint32_t packet);
  void return_room(int place, int cables, std::uint64_t wire_bytes);
  void end_packet(std::uint32_t packet, bool is_lost);
  [[nodiscard]] Time wire_time(std::uint64_t wire_bytes) const;
  [[nodiscard]] std::size_t line_of(int place, int cables) const {
    return static_cast<std::size_t>(place) * lines_ + (lines_ == 1 ? 0 : cables);
  }

  const Topology& topology_;
  PacketCosts costs_;
  Deliver deliver_;
  Depart depart_;
  EventCore core_;
  Time full_time_ = 0;  ///< of the largest packet
  Time header_time_ = 0;
  std::size_t lines_ = 1;  ///< of each port: one, or by cables passed
  std::vector<OutPort> ports_;
  std::vector<Line> queues_;         ///< by port and cables passed
  std::vector<std::uint64_t> room_;  ///< at the other end of a port, for packets from each of its queues
  std::vector<Message> messages_;
  std::vector<Packet> packets_;
  std::uint32_t free_message_ = kNone;
  std::uint32_t free_packet_ = kNone;
  std::uint64_t order_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t lost_packets_ = 0;
};

}  // namespace fabricmark::network
