#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// A part of a mesh as one rank or device has it.
struct Part {
  /// What goes to and comes from another part in each step.
  struct Neighbour {
    int part = 0;
    std::vector<std::int32_t> send;     ///< own elements, by their place in `elements`
    std::vector<std::int32_t> receive;  ///< the neighbour's elements (numbers in the mesh), in the order that
                                        ///< it sends them
  };
  std::vector<std::int32_t> elements;  ///< numbers in the mesh: first those with no neighbour in another part
  std::size_t core = 0;                ///< how many of `elements` are such
  std::vector<Neighbour> neighbours;   ///< by part, ascending
};

/// What a part costs a device that streams its elements (Meyer 2024, eq. 5.2 and 5.3).
struct PartCost {
  std::size_t elements = 0;
  std::size_t border = 0;       ///< S = E_send + E_recv: elements with a neighbour in another part
  std::size_t outer_edges = 0;  ///< D_ext: edges at land, sea and rivers
  std::size_t neighbours = 0;   ///< N: other parts that it exchanges with

  [[nodiscard]] std::size_t core() const { return elements - border; }  ///< E_core
  /// In elements: all, those of the border once more, and 586 for each neighbour, which is what calls and
  /// latency of its messages take at 274 MHz (2 l_k + l_m with l_k = 60 cycles, l_m = 1.7 us).
  [[nodiscard]] std::size_t cost() const;
};

/// The part of each element, 0 to parts - 1. The best of several that METIS finds by recursive bisection and
/// by k-way partitioning of the dual graph with different seeds: that whose dearest part costs least
/// (PartCost). The same for the same mesh on every rank and in every call. Takes seconds for millions of
/// elements. Throws Error (bad use) for more parts than elements.
std::vector<std::int32_t> partition(const Mesh& mesh, int parts);

/// The cost of each part.
std::vector<PartCost> part_costs(const Mesh& mesh, const std::vector<std::int32_t>& part_of, int parts);

/// One part of it. `part_of`: of each element.
Part part(const Mesh& mesh, const std::vector<std::int32_t>& part_of, int which);

}  // namespace fabricmark::mesh
