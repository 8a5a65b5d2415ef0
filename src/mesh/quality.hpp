#pragma once

#include <array>
#include <cstddef>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// What a mesh is like, for whoever is about to compute on it.
struct Quality {
  std::size_t elements = 0;
  std::size_t nodes = 0;
  std::array<std::size_t, 4> edges{};  ///< by EdgeKind
  std::size_t pieces = 0;              ///< sets of elements that no edge joins
  double area_m2 = 0;                  ///< of all elements
  double smallest_area_m2 = 0;
  double largest_area_m2 = 0;
  double shortest_edge_m = 0;
  double longest_edge_m = 0;
  double smallest_angle_degrees = 0;
  double mean_smallest_angle_degrees = 0;  ///< of the smallest angle of each element
  double worst_aspect = 0;  ///< longest edge / (2 sqrt(3) radius of the circle inside); 1 where equilateral
  std::size_t worst_element = 0;  ///< that with the smallest angle, from 0
  double least_depth_m = 0;
  double largest_depth_m = 0;
  /// min 2 A / (P sqrt(g h)) over elements, h of the deepest node: the longest step of p0 at rest that CFL
  /// allows.
  double step_at_rest_s = 0;
};

Quality quality(const Mesh& mesh);

}  // namespace fabricmark::mesh
