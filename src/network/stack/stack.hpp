#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/interface.hpp"
#include "network/packet_network.hpp"
#include "network/protocol.hpp"
#include "network/time.hpp"
#include "network/topology.hpp"

namespace fabricmark::network {

/// What goes wrong in a network, drawn from a seed for every packet by its flow and number: the same in every
/// run, however many processes take part. Acknowledgements are packets, too. A packet goes wrong at the end
/// of its way: it has taken its time on all cables.
struct PacketFaults {
  std::uint64_t seed = 0;
  double drop = 0;       ///< share of packets
  double duplicate = 0;  ///< share of packets, which come a second time a few packets later
  double reorder = 0;    ///< share of packets that come later than those behind them
};

struct StackSettings {
  Protocol protocol = Protocol::kUdp;
  /// Of a cable and its nodes. `mtu_bytes` is the most payload of a packet (the MTU less the protocol's
  /// headers), `header_bytes` all that the wire carries beside it.
  PacketCosts costs{};
  std::uint64_t window_bytes = 65535;  ///< kTcp: most that is in flight and not acknowledged, of each session
  /// kTcp: what has come lies in the receive buffer so long before its window opens again.
  Time receive_latency = 0;
  PacketFaults faults{};
  /// kTcp, kRdma: without an acknowledgement, doubled with each one in a row. kUdp: from the loss of a packet
  /// until its receiver is told, where no later packet tells sooner. 0: from the round trip; then nobody
  /// waits where nothing can be lost but for a dead peer.
  Time retransmission_time = 0;
  int most_retransmissions = 8;  ///< in a row of one packet; then its peer is said to be dead
  /// kUdp, kRdma, where nothing can be lost: so many bytes, in whole packets, go to the network at once, so
  /// that long messages are few events, and arrive so. Below the MTU: each packet by itself.
  std::uint64_t burst_bytes = kBurstBytes;
};

/// Messages between devices by a protocol, in modelled time: state of all devices in one place, which depends
/// on nothing but the calls below and their times. So processes that each make the same calls agree on all
/// that happens, packet by packet.
class Stack : public Interface {
 public:
  /// A part of a message has come, in the order of its bytes, or is known to be lost. A message of no bytes
  /// has one, too. Each byte of a message is told once.
  struct Arrival {
    Time time = 0;
    int from = 0;
    int to = 0;
    std::uint64_t id = 0;      ///< of the message
    std::uint64_t offset = 0;  ///< [bytes]
    std::uint64_t bytes = 0;
    bool is_lost = false;  ///< kUdp: these bytes will not come
    bool is_last = false;  ///< nothing of the message comes behind it
  };
  /// The sender's end of a message: its memory may be used again. kUdp: it has left; else: all is
  /// acknowledged.
  struct Completion {
    Time time = 0;
    int from = 0;
    int to = 0;
    std::uint64_t id = 0;
    bool has_failed = false;  ///< the peer does not answer; nor will it to what this flow sends later
  };
  struct Listener {
    std::function<void(const Arrival&)> arrived{};  ///< may be empty, as the other
    std::function<void(const Completion&)> completed{};
  };
  struct Counters {
    std::uint64_t messages = 0;
    std::uint64_t packets = 0;  ///< with payload, each time that they were sent
    std::uint64_t acknowledgements = 0;
    std::uint64_t retransmitted = 0;
    std::uint64_t lost = 0;        ///< dropped by the network, for want of room or by fault
    std::uint64_t lost_bytes = 0;  ///< told as lost to receivers
    std::uint64_t duplicates = 0;  ///< that receivers threw away: told before, kUdp: as lost, too
    std::uint64_t early = 0;       ///< kRdma: thrown away behind a gap; they are sent again
  };

  /// At a time, from one device to another (or itself), in the flow between them; `id` names the message for
  /// this sender. Messages of a flow go in the order of their times, those of one time in that of their ids.
  /// Throws Error (2) for a time before what advance_until has handled less lookahead().
  virtual void send(Time at, int from, int to, std::uint64_t id, std::uint64_t bytes) = 0;
  /// From then on a device neither sends nor answers, and is told nothing. What lies in its ports still
  /// leaves, and it passes on the packets of others. Throws Error (2) for a time before what advance_until
  /// has handled.
  virtual void kill(Time at, int device) = 0;

  /// When something happens next; kEndOfTime where nothing does. A time-out that is no longer needed is
  /// nothing.
  [[nodiscard]] virtual Time next_time() const = 0;
  /// Handles all that happens before `end`; tells the listener, in the order of time, what has come and
  /// ended. The listener may send.
  virtual void advance_until(Time end) = 0;
  /// A message does nothing sooner than so much after its send.
  [[nodiscard]] virtual Time lookahead() const = 0;
  [[nodiscard]] virtual const Counters& counters() const = 0;
  /// Of the network below. Its counters of packets count what goes at once (burst_bytes) as one.
  [[nodiscard]] virtual const PacketNetwork& network() const = 0;
};

/// `topology` has to live as long. Throws Error (2) for settings that cannot be.
std::unique_ptr<Stack> make_stack(const Topology& topology, const StackSettings& settings,
                                  Stack::Listener listener);

}  // namespace fabricmark::network
