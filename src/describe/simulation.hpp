#pragma once

#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/replay/over_networks.hpp"
#include "describe/request.hpp"
#include "network/topology.hpp"
#include "simulate/player.hpp"

namespace fabricmark::describe {

inline constexpr double kMostBytes = 1e15;  ///< of a message, or of one rank's elements

/// What a request asks to simulate (docs/describe.md): for whoever plays it.
struct Simulation {
  /// Throws Error (bad use).
  explicit Simulation(const Json& request);

  [[nodiscard]] simulate::Setting setting() const {
    return {topology, devices, costs, background, activities, parts};
  }

  simulate::Costs costs;
  network::Topology topology;
  std::vector<int> devices;  ///< of each rank
  collectives::Shape shape;
  simulate::Background background{};
  std::size_t activities = 0;                 ///< that are told at most
  std::size_t parts = 0;                      ///< of programs, whose time is told
  std::vector<simulate::Program> programs{};  ///< of each rank
};

/// The algorithms that do a call there.
std::vector<const collectives::Algorithm*> fitting(const Simulation& simulation, const Json& call);

/// A whole number of a request. Throws Error (bad use) for one out of its range.
int count(const Json& said, const char* name, int usual, int least, int most);

}  // namespace fabricmark::describe
