#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// Where a mesh comes from, for messages: the lines of a file, or nothing.
struct Origin {
  std::string name = "the mesh";
  std::vector<std::int32_t> node_lines;  ///< from 1; empty: no file
  std::vector<std::int32_t> element_lines;
  std::vector<std::int32_t> boundary_lines;

  /// "node 3 (line 5)", numbered from 1.
  [[nodiscard]] std::string node(std::size_t which) const;
  [[nodiscard]] std::string element(std::size_t which) const;
  [[nodiscard]] std::string boundary(const Mesh& mesh, std::size_t which) const;
};

/// Throws Error (bad use) that names element or node for a mesh that no solver could use: coordinates or
/// depths that are no numbers or beyond those of the earth, depths that are not above 0, elements with a node
/// that is not there or twice, without area or clockwise, twice the same element, nodes of no element, edges
/// of more than two elements or with both on one side, edges of one element that no boundary names, and
/// boundaries that are no such edges.
void check(const Mesh& mesh, const Origin& origin = {});

}  // namespace fabricmark::mesh
