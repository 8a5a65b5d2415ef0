#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fabricmark::mesh {

/// What lies beyond an edge of an element.
enum class EdgeKind : std::uint8_t {
  kInterior,  ///< another element
  kLand,      ///< nothing flows through
  kSea,       ///< the tide is prescribed
  kRiver,     ///< elevation and normal velocity are prescribed
};

/// An edge of one element only, between two of its nodes.
struct BoundaryEdge {
  std::array<std::int32_t, 2> nodes{};
  EdgeKind kind = EdgeKind::kLand;
};

/// A mesh of triangles. Nodes and elements are numbered from 0.
struct Mesh {
  std::string title;
  std::vector<double> x;                              ///< of each node [m]
  std::vector<double> y;                              ///< of each node [m]
  std::vector<double> depth;                          ///< h_b of each node below still water [m]
  std::vector<std::array<std::int32_t, 3>> elements;  ///< their nodes, counterclockwise
  std::vector<BoundaryEdge> boundary;                 ///< each edge that one element only has, once

  [[nodiscard]] std::size_t node_count() const { return x.size(); }
  [[nodiscard]] std::size_t element_count() const { return elements.size(); }
};

/// An edge as solvers go over them: each edge of the mesh once. Side i of an element lies between its nodes
/// i and (i + 1) % 3.
struct Edge {
  std::int32_t left = 0;    ///< element on whose side the nodes go counterclockwise
  std::int32_t right = -1;  ///< the other one; -1: none
  std::int8_t left_side = 0;
  std::int8_t right_side = -1;
  EdgeKind kind = EdgeKind::kInterior;
};

/// All edges of a mesh in the order of their first element and side.
std::vector<Edge> edges_of(const Mesh& mesh);

}  // namespace fabricmark::mesh
