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

/// The part of each element, 0 to parts - 1. The same for the same mesh on every rank. Throws Error (bad use)
/// for more parts than elements.
std::vector<std::int32_t> partition(const Mesh& mesh, int parts);

/// One part of it. `part_of`: of each element.
Part part(const Mesh& mesh, const std::vector<std::int32_t>& part_of, int which);

}  // namespace fabricmark::mesh
