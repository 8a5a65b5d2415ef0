#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "network/topology.hpp"

namespace fabricmark::network {

/// A static way between two devices whose cables nobody else uses.
struct Circuit {
  int from = 0;
  int to = 0;
  std::vector<Hop> hops;  ///< in the direction from `from`; data may go both ways

  [[nodiscard]] Port first() const { return hops.front().out; }
  [[nodiscard]] Port last() const { return hops.back().in; }
};

/// Which circuits own the cables of a topology, which has to live as long.
class Circuits {
 public:
  static constexpr int kAnyPort = -1;

  explicit Circuits(const Topology& topology);

  /// Connects two devices by a shortest way of free cables, by the given ports where they are given: the
  /// first in the order of Topology::route, then of ascending ports. Returns its number. Throws Error (2)
  /// where no cable is, and where others own the cables, with one of them.
  std::size_t connect(int from, int to, int from_port = kAnyPort, int to_port = kAnyPort);
  /// Gives its cables back; its number is not used again.
  void release(std::size_t circuit);

  [[nodiscard]] const Circuit& circuit(std::size_t number) const { return circuits_[number]; }
  /// The circuit that owns the cable of a port; nullptr where it is free.
  [[nodiscard]] const Circuit* owner(Port port) const;

 private:
  /// A way over free cables from a node on, by depth first; `dead` nodes have none.
  bool find(int node, int to, int from_port, int to_port, std::vector<bool>& dead,
            std::vector<Hop>& hops) const;
  [[nodiscard]] Error refusal(int from, int to, int from_port, int to_port) const;

  const Topology& topology_;
  std::vector<Circuit> circuits_;
  std::vector<int> owner_;  ///< by cable; -1 where it is free
};

}  // namespace fabricmark::network
