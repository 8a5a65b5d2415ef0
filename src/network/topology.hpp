#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fabricmark::network {

/// A socket of a node, into which one cable goes.
struct Port {
  int node = 0;
  int port = 0;
  friend auto operator<=>(const Port&, const Port&) = default;
};

/// Carries data in both directions, each at the rate of the link. Both ends may be at one node: a loop.
struct Cable {
  Port a;
  Port b;
};

/// What lies between two devices on a way.
struct Hops {
  int cables = 0;
  int switches = 0;
  int devices = 0;  ///< that pass on, both ends left out
  friend bool operator==(const Hops&, const Hops&) = default;
};

/// One cable of a way, in the direction of the data.
struct Hop {
  Port out;
  Port in;
  std::size_t cable = 0;
};

/// Devices, switches and the cables between them, and which port leads to which device.
///
/// Devices are the nodes 0 to devices() - 1, switches those after them. Ways are the shortest, in cables. Of
/// several a switch takes one by the number of the destination, so that its cables share the load: those next
/// to devices by its lowest digit, those above by higher ones (as d-mod-k in fat trees). A device
/// takes the lowest port that leads on (in a torus: columns before rows) and spreads destinations over
/// parallel cables to that neighbour only. A way to a device itself goes over its lowest loop.
class Topology {
 public:
  /// The most devices, and the most cables: the tables of ways grow with both.
  static constexpr int kMostDevices = 4096;
  static constexpr std::size_t kMostCables = 65536;

  /// `name` is for messages. `node_names`: how these call the nodes; empty for "device 3", "switch 0". Throws
  /// Error (2) for a port that has two cables, a device without a cable and devices that no way connects.
  Topology(std::string name, int devices, int switches, std::vector<Cable> cables,
           std::vector<std::string> node_names = {});
  /// Cables alone, as a circuit switch sets them: not every device has to have one, nor to reach all others.
  /// `distance` and `next_port` are -1 where no way leads.
  static Topology circuits(std::string name, int devices, std::vector<Cable> cables);
  /// The same where cables have failed; ports keep their numbers. Throws Error (2) where devices are cut off.
  [[nodiscard]] Topology without(std::vector<std::size_t> cables) const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] int switches() const { return nodes() - devices_; }
  [[nodiscard]] int nodes() const { return static_cast<int>(first_port_.size()) - 1; }
  [[nodiscard]] bool is_device(int node) const { return node < devices_; }
  [[nodiscard]] const std::vector<Cable>& cables() const { return cables_; }

  /// Ports of a node: one more than its highest with a cable.
  [[nodiscard]] int ports(int node) const { return first_port_[node + 1] - first_port_[node]; }
  /// Ports of all nodes, and the place of one among them: for tables by port.
  [[nodiscard]] int all_ports() const { return first_port_.back(); }
  [[nodiscard]] int place(Port port) const { return first_port_[port.node] + port.port; }
  /// The other end of a port's cable; none where there is no such port or cable.
  [[nodiscard]] std::optional<Port> neighbour(Port port) const;
  /// Which cable a port has; none as above.
  [[nodiscard]] std::optional<std::size_t> cable(Port port) const;

  /// The port by which a node sends on what is for a device; -1 where the node is that device and has no
  /// loop.
  [[nodiscard]] int next_port(int node, int destination) const {
    return next_[static_cast<std::size_t>(node) * devices_ + destination];
  }
  /// All ports of a node that lie on a shortest way to a device, ascending.
  [[nodiscard]] std::vector<int> ports_towards(int node, int destination) const;
  /// Cables from a node to a device on the shortest way.
  [[nodiscard]] int distance(int node, int destination) const {
    return distance_[static_cast<std::size_t>(node) * devices_ + destination];
  }
  /// Whether each two devices have a cable between them, and there is nothing else.
  [[nodiscard]] bool is_full_mesh() const;
  /// The way between two devices, cable by cable; empty from a device without a loop to itself.
  [[nodiscard]] std::vector<Hop> route(int from, int to) const;
  [[nodiscard]] Hops hops(int from, int to) const;

  /// Throws Error (2) where a device has a port that a board of so many ports has not.
  void check_ports(int board_ports) const;
  /// How messages call a node and a port.
  [[nodiscard]] std::string node_name(int node) const;
  [[nodiscard]] std::string port_name(Port port) const;
  /// Throws Error (2) for a device that is not there.
  void check_device(int device) const;

 private:
  enum class Reach { kAll, kAny };
  Topology(Reach reach, std::string name, int devices, int switches, std::vector<Cable> cables,
           std::vector<std::string> node_names);
  void plug_in();
  void find_levels();
  void find_routes(int destination);
  void append_ports_towards(int node, int destination, std::vector<int>& found) const;
  /// `found`: memory that is used again.
  int chosen_port(int node, int destination, std::vector<int>& found) const;

  std::string name_;
  Reach reach_ = Reach::kAll;
  int devices_ = 0;
  std::vector<Cable> cables_;
  std::vector<std::string> node_names_;
  std::vector<int> first_port_;         ///< by node, and one more
  std::vector<Port> other_end_;         ///< by place of a port; node -1 where no cable is
  std::vector<int> cable_;              ///< by place of a port
  std::vector<std::int16_t> level_;     ///< by node: cables to the nearest device
  std::vector<std::int16_t> distance_;  ///< by node and device
  std::vector<std::int32_t> next_;      ///< by node and device
};

/// Two devices. `lanes`: parallel cables between two neighbours, here and below; neighbour i has the ports i
/// * lanes on.
Topology pair(int lanes = 1);
/// Neighbour 0 is the next device, 1 the one before; one device has a loop.
Topology ring(int devices, int lanes = 1);
/// Device = row * columns + column; neighbours: next and previous column, next and previous row. A single row
/// or column has loops.
Topology torus(int rows, int columns, int lanes = 1);
/// All to all; neighbours ascending.
Topology full_mesh(int devices, int lanes = 1);
/// Devices in the order of the leaves. Ports of a leaf: its devices, then the spines; of a spine: the leaves.
/// One leaf needs no spine.
Topology leaf_spine(int leaves, int spines, int devices_per_leaf, int lanes = 1);

/// Three levels of switches with so many ports each (even), without oversubscription: ports^3 / 4 devices, in
/// `ports` pods of ports / 2 edges and as many aggregations, below ports^2 / 4 cores (Al-Fares, Loukissas and
/// Vahdat, "A Scalable, Commodity Data Center Network Architecture", 2008).
Topology fat_tree(int ports, int lanes = 1);
/// Groups of routers that are joined to each other in a group; two groups have a cable, at routers in turn
/// (Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology", 2008). Ports of a router: its
/// devices, the others of its group, other groups.
Topology dragonfly(int groups, int routers, int devices_per_router, int lanes = 1);

/// From a text: "pair", "ring:8", "torus:4x4", "full-mesh:4", "switch:8" (one leaf), "leaf-spine:4x2x8"
/// (leaves, spines, devices of a leaf), "fat-tree:16" (ports of a switch), "dragonfly:9x4x2" (groups, routers
/// of a group, devices of a router), each with parallel cables as "ring:8*2"; or "file:PATH". Where a text
/// has no sizes `devices` says them (torus: as square as it goes). Throws Error (2) for what is none of
/// these, and for sizes that make another number than `devices`, where that is not 0.
Topology make_topology(const std::string& text, int devices = 0);

/// From JSON (docs/fabric.md). Throws Error (2) with file and line.
Topology load_topology(const std::filesystem::path& file);
/// The same from its text; `origin` is for messages.
Topology read_topology(const std::string& json, const std::string& origin);

}  // namespace fabricmark::network
