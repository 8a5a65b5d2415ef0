#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "mesh/half_edges.hpp"
#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

HalfEdges::HalfEdges(const Mesh& mesh) : starts_(mesh.node_count() + 1) {
  for (const auto& element : mesh.elements) {
    for (std::size_t side = 0; side < 3; ++side) ++starts_[low(element, side) + 1];
  }
  for (std::size_t node = 0; node < mesh.node_count(); ++node) starts_[node + 1] += starts_[node];
  entries_.resize(3 * mesh.element_count());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  for (std::size_t which = 0; which < mesh.element_count(); ++which) {
    const auto& element = mesh.elements[which];
    for (std::size_t side = 0; side < 3; ++side) {
      const auto other = std::max(element[side], element[(side + 1) % 3]);
      entries_[next[low(element, side)]++] = {other, static_cast<std::int32_t>(which),
                                              static_cast<std::int8_t>(side)};
    }
  }
}

std::size_t HalfEdges::low(const std::array<std::int32_t, 3>& element, std::size_t side) {
  return static_cast<std::size_t>(std::min(element[side], element[(side + 1) % 3]));
}

std::span<const HalfEdge> HalfEdges::of(std::size_t node) const {
  return std::span(entries_).subspan(starts_[node], starts_[node + 1] - starts_[node]);
}

namespace {

Error missing(std::int32_t element) {
  return bad_use("element " + std::to_string(element + 1) + " has an edge that no boundary names",
                 "name its boundary");
}

}  // namespace

std::vector<Edge> edges_of(const Mesh& mesh) {
  const HalfEdges halves(mesh);
  constexpr std::int32_t kNone = -1;
  std::vector<std::int32_t> edge_at(3 * mesh.element_count(), kNone);  // [element][side]
  std::vector<Edge> edges;
  edges.reserve((3 * mesh.element_count() + mesh.boundary.size()) / 2);
  for (std::size_t element = 0; element < mesh.element_count(); ++element) {
    for (std::size_t side = 0; side < 3; ++side) {
      if (edge_at[3 * element + side] != kNone) continue;
      const auto& nodes = mesh.elements[element];
      const std::int32_t high = std::max(nodes[side], nodes[(side + 1) % 3]);
      Edge edge{.left = static_cast<std::int32_t>(element), .left_side = static_cast<std::int8_t>(side)};
      int others = 0;
      for (const HalfEdge& half : halves.of(HalfEdges::low(nodes, side))) {
        if (half.high != high || (half.element == edge.left && half.side == edge.left_side)) continue;
        ++others;
        edge.right = half.element;
        edge.right_side = half.side;
      }
      if (others > 1)
        throw bad_use("element " + std::to_string(element + 1) + " shares an edge with two others",
                      "give each edge two elements at most");
      const auto place = static_cast<std::int32_t>(edges.size());
      edge_at[3 * element + side] = place;
      if (others == 1)
        edge_at[3 * static_cast<std::size_t>(edge.right) + static_cast<std::size_t>(edge.right_side)] = place;
      edges.push_back(edge);
    }
  }
  std::vector<bool> named(edges.size());
  for (const BoundaryEdge& boundary : mesh.boundary) {
    const auto [low, high] = std::minmax(boundary.nodes[0], boundary.nodes[1]);
    for (const HalfEdge& half : halves.of(static_cast<std::size_t>(low))) {
      if (half.high != high) continue;
      const auto place = static_cast<std::size_t>(
          edge_at[3 * static_cast<std::size_t>(half.element) + static_cast<std::size_t>(half.side)]);
      edges[place].kind = boundary.kind;
      named[place] = true;
    }
  }
  for (std::size_t place = 0; place < edges.size(); ++place) {
    const bool is_outer = edges[place].right < 0;
    if (is_outer && !named[place]) throw missing(edges[place].left);
    if (!is_outer && named[place])
      throw bad_use("a boundary names an edge between elements " + std::to_string(edges[place].left + 1) +
                        " and " + std::to_string(edges[place].right + 1),
                    "name only edges of one element");
  }
  return edges;
}

}  // namespace fabricmark::mesh
