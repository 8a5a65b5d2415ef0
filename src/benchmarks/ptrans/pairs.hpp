#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/ptrans/plan.hpp"
#include "collectives/moves.hpp"
#include "network/topology.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::ptrans {

/// What a pair of dataflow kernels does, by numbers of blocks: one sends blocks of A transposed, the other
/// adds blocks of B to what comes. The first `staying` blocks go from one to the other on the device.
struct PairTasks {
  std::vector<std::uint32_t> sources;  ///< blocks of A, in the order in which they are sent
  std::vector<std::uint32_t> targets;  ///< blocks of B and C, in the order in which theirs come
  std::size_t staying = 0;

  [[nodiscard]] std::size_t leaving() const { return sources.size() - staying; }
  [[nodiscard]] std::size_t arriving() const { return targets.size() - staying; }
};

/// Of the matrices, for the engine.
collectives::Type element_type(const runtime::Context& context);

/// Throws Error (bad use) with the grids that do work for a distribution in which a rank exchanges blocks
/// with several others, or in which one of an odd number along diagonals is left over: a static circuit joins
/// two boards.
void require_partners(const Distribution& distribution);

/// The port from which comes what a board without a partner sends on `port`: cables join its ports 0 and 1, 2
/// and 3, and so on. The port itself for the last of an odd number, which has no cable: its blocks stay.
inline int loop_port(int port, int ports) {
  const int other = port % 2 == 0 ? port + 1 : port - 1;
  return other < ports ? other : port;
}

/// The cables of all boards for `ports` channels of each: port i of a board to port i of its partner's, loops
/// on boards that are their own partners. All ranks make the same. `distribution`: with partners.
network::Topology circuits(const Distribution& distribution, int ports);

/// All tasks of a rank over `pairs` pairs of kernels, as evenly as they go. `has_loops`: the rank is its own
/// partner, and its blocks go over loops (`loop_port`). Both ranks at a cable have the same number of blocks
/// on it, in the same order.
std::vector<PairTasks> divide_tasks(const Plan& plan, int pairs, bool has_loops);

/// Tasks of the plan from `first` on over `pairs` pairs of kernels, all of which have their blocks of A in
/// memory of their own device.
std::vector<PairTasks> divide_staying(const Plan& plan, std::size_t first, std::size_t count, int pairs);

/// Throws Error (bad use) where no rank that the run's fault names sends what it strikes, or where a target
/// does not fit: such a run would be valid and prove nothing. `has_loops`: boards send to themselves over
/// cables, if they have several ports (`pairs`).
void require_possible_on_boards(const runtime::Context& context, const Distribution& distribution, int pairs,
                                bool has_loops);

}  // namespace fabricmark::ptrans
