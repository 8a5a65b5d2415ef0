#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "network/network_costs.hpp"
#include "network/topology.hpp"
#include "simulate/program.hpp"

namespace fabricmark::simulate {

/// What messages take over a network.
struct Costs {
  double issue_seconds = 0;  ///< of a rank, for each message that it sends
  double node_seconds = 0;   ///< of a device, to start a message and to pass one on
  double cable_seconds = 0;
  double switch_seconds = 0;
  double bytes_per_second = 0;        ///< of a cable in one direction, headers counted
  std::uint64_t frame_bytes = 0;      ///< the most payload of a packet; 0: a message is not cut for the wire
  std::uint64_t header_bytes = 0;     ///< of each packet
  bool only_neighbours_talk = false;  ///< circuits: no device passes a message on
  /// Longer messages leave when their receiver asks for them, and their sender waits until they are there.
  double eager_bytes = std::numeric_limits<double>::infinity();

  /// What the cable carries for a message.
  [[nodiscard]] std::uint64_t wire_bytes(double payload) const;
};

/// Of a network of a system: kernels write to circuits, words at their clock; all else sends packets, of
/// which full ones carry the rate of a link. Throws Error (bad use) for a kind that is none, and without a
/// rate.
[[nodiscard]] Costs costs_of(const network::NetworkCosts& network);

/// Who shares what.
enum class Sharing : std::uint8_t {
  kCables,   ///< all messages all cables, packet by packet
  kOwnPorts  ///< those of one device its own ports; the rest of the network has room for all
};

/// What devices without ranks send all the time, where cables are shared: messages of `message_bytes` to one
/// of them each, drawn by the seed, for a share of the time of their ports. Between two of them their ports
/// rest.
struct Background {
  double share = 0;
  std::uint64_t seed = 1;
  std::uint64_t message_bytes = 65536;
};

/// Ranks at their devices.
struct Setting {
  const network::Topology& topology;
  std::vector<int> devices;  ///< of each rank; several ranks of one share its port
  Costs costs{};
  Background background{};
  std::size_t most_activities = 0;  ///< that are noted; the rest is counted
  std::size_t parts = 0;            ///< of programs, whose time is told
};

/// What a rank did for a time, or what it waited for.
struct Activity {
  enum class Kind : std::uint8_t {
    kWork,
    kWaitForMessage,  ///< of `peer`
    kWaitForLink,     ///< until its message to `peer` has left
  };
  Kind kind = Kind::kWork;
  int rank = 0;
  int peer = 0;
  double start = 0;  ///< in seconds, as `end`
  double end = 0;
};

/// What went over a cable in one direction until the last rank has ended, background traffic too.
struct LinkLoad {
  network::Port out{};
  std::uint64_t bytes = 0;  ///< headers counted
  double busy_seconds = 0;
  std::uint64_t pairs = 0;  ///< of ranks whose messages went there
};

struct Outcome {
  double seconds = 0;                        ///< from when all begin until the last has ended
  std::vector<double> ends{};                ///< of each rank
  std::vector<std::vector<double>> spent{};  ///< by rank and part [s]
  std::uint64_t messages = 0;
  std::uint64_t events = 0;
  std::uint64_t burst_frames = 1;  ///< that pass a cable in one piece, so that there are not too many events
  std::vector<Activity> activities{};  ///< in the order in which they ended
  std::uint64_t left_out = 0;          ///< activities that were not noted
  double left_out_seconds = 0;         ///< that these took together
  std::vector<LinkLoad> links{};       ///< of the ranks' messages, the busiest first; none of kOwnPorts
};

/// Plays the programs of all ranks in modelled time: each message leaves when it is sent, and waits at its
/// receiver; one above the eager limit when its receiver has asked for it, too. The same programs give the
/// same times on any machine. Throws Error (bad use) for a rank that waits for a message that nobody sends,
/// or for a receiver that never asks, background traffic without two devices for it, a message over circuits
/// that do not lead to its receiver, and times beyond the clock.
[[nodiscard]] Outcome play(const std::vector<Program>& programs, const Setting& setting, Sharing sharing);

/// The path of a message by itself, without its bytes [s], to a device from each node.
[[nodiscard]] std::vector<double> latencies_to(const Setting& setting, int device);

}  // namespace fabricmark::simulate
