#include "mesh/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "mesh/half_edges.hpp"

namespace fabricmark::mesh {

namespace {

std::string named(const char* what, std::size_t which, const std::vector<std::int32_t>& lines) {
  return which < lines.size() ? fmt::format("{} {} (line {})", what, which + 1, lines[which])
                              : fmt::format("{} {}", what, which + 1);
}

Error broken(const Origin& origin, const std::string& cause, const std::string& remedy) {
  return bad_use(origin.name + ": " + cause, remedy);
}

constexpr double kDeepestSea = 12000;   // m
constexpr double kFarthestPlace = 1e8;  // m, with any false easting and northing of a map

void check_nodes(const Mesh& mesh, const Origin& origin) {
  for (std::size_t node = 0; node < mesh.node_count(); ++node) {
    if (!std::isfinite(mesh.x[node]) || !std::isfinite(mesh.y[node]) || !std::isfinite(mesh.depth[node]))
      throw broken(origin, origin.node(node) + " has a coordinate or depth that is no number", "correct it");
    if (!(mesh.depth[node] > 0))
      throw broken(origin, fmt::format("{} has a depth of {} m", origin.node(node), mesh.depth[node]),
                   "give every node a depth above 0");
    if (mesh.depth[node] > kDeepestSea)
      throw broken(origin, fmt::format("{} has a depth of {} m", origin.node(node), mesh.depth[node]),
                   fmt::format("give depths in metres, up to {:g}: no sea is deeper", kDeepestSea));
    if (std::max(std::abs(mesh.x[node]), std::abs(mesh.y[node])) > kFarthestPlace)
      throw broken(
          origin, fmt::format("{} lies at ({}, {}) m", origin.node(node), mesh.x[node], mesh.y[node]),
          fmt::format("give coordinates in metres, up to {:g}: the earth is smaller", kFarthestPlace));
  }
}

/// Twice the area; above 0 where the nodes go counterclockwise.
double double_area(const Mesh& mesh, const std::array<std::int32_t, 3>& element) {
  const auto [a, b, c] = element;
  const auto x = [&](std::int32_t node) { return mesh.x[static_cast<std::size_t>(node)]; };
  const auto y = [&](std::int32_t node) { return mesh.y[static_cast<std::size_t>(node)]; };
  return (x(b) - x(a)) * (y(c) - y(a)) - (x(c) - x(a)) * (y(b) - y(a));
}

void check_elements(const Mesh& mesh, const Origin& origin) {
  std::vector<bool> used(mesh.node_count());
  for (std::size_t which = 0; which < mesh.element_count(); ++which) {
    const auto& element = mesh.elements[which];
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int32_t node = element[i];
      if (node < 0 || static_cast<std::size_t>(node) >= mesh.node_count())
        throw broken(origin,
                     fmt::format("{} has node {}, but there are nodes 1 to {}", origin.element(which),
                                 std::int64_t{node} + 1, mesh.node_count()),
                     "correct it");
      if (node == element[(i + 1) % 3])
        throw broken(origin, fmt::format("{} has node {} twice", origin.element(which), node + 1),
                     "correct it");
      used[static_cast<std::size_t>(node)] = true;
    }
    const double area = double_area(mesh, element) / 2;
    if (!(area > 0) || !std::isfinite(area))
      throw broken(
          origin,
          fmt::format("{} is {}", origin.element(which),
                      area < 0 ? "inverted: its nodes go clockwise" : "without area, or too large for one"),
          "name its nodes counterclockwise");
  }
  const auto dangling = std::ranges::find(used, false);
  if (dangling != used.end())
    throw broken(origin, origin.node(static_cast<std::size_t>(dangling - used.begin())) + " is in no element",
                 "remove it or name it in an element");
}

/// An edge has one element on each side, or only one.
void check_pair(const Mesh& mesh, const HalfEdge& first, const HalfEdge& second, const Origin& origin) {
  const auto& a = mesh.elements[static_cast<std::size_t>(first.element)];
  const auto& b = mesh.elements[static_cast<std::size_t>(second.element)];
  const auto start = [](const std::array<std::int32_t, 3>& nodes, const HalfEdge& half) {
    return nodes[half.side == 0 ? 0U : half.side == 1 ? 1U : 2U];
  };
  if (start(a, first) != start(b, second)) return;
  const auto one = origin.element(static_cast<std::size_t>(first.element));
  const auto other = origin.element(static_cast<std::size_t>(second.element));
  auto sorted_a = a;
  auto sorted_b = b;
  std::ranges::sort(sorted_a);
  std::ranges::sort(sorted_b);
  if (sorted_a == sorted_b)
    throw broken(origin, other + " has the same nodes as " + one, "name each element once");
  throw broken(origin, other + " overlaps " + one, "correct one of them");
}

void check_edges(const Mesh& mesh, const Origin& origin) {
  const HalfEdges halves(mesh);
  for (std::size_t node = 0; node < mesh.node_count(); ++node) {
    const auto around = halves.of(node);
    for (std::size_t i = 0; i < around.size(); ++i) {
      int others = 0;
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        if (around[i].high != around[j].high) continue;
        check_pair(mesh, around[i], around[j], origin);
        if (++others > 1)
          throw broken(
              origin,
              origin.element(static_cast<std::size_t>(around[j].element)) + " shares an edge with two others",
              "give each edge two elements at most");
      }
    }
  }
}

/// How many elements an edge has, and the first of them.
std::pair<int, std::int32_t> elements_at(const HalfEdges& halves, const BoundaryEdge& edge) {
  const auto [low, high] = std::minmax(edge.nodes[0], edge.nodes[1]);
  std::pair<int, std::int32_t> found{0, -1};
  for (const HalfEdge& half : halves.of(static_cast<std::size_t>(low))) {
    if (half.high != high) continue;
    if (found.first++ == 0) found.second = 3 * half.element + half.side;
  }
  return found;
}

void check_boundary(const Mesh& mesh, const Origin& origin) {
  const HalfEdges halves(mesh);
  std::vector<bool> named(3 * mesh.element_count());
  for (std::size_t which = 0; which < mesh.boundary.size(); ++which) {
    const BoundaryEdge& edge = mesh.boundary[which];
    for (const std::int32_t node : edge.nodes) {
      if (node < 0 || static_cast<std::size_t>(node) >= mesh.node_count())
        throw broken(
            origin,
            fmt::format("{}, but there are nodes 1 to {}", origin.boundary(mesh, which), mesh.node_count()),
            "correct it");
    }
    if (edge.kind == EdgeKind::kInterior)
      throw broken(origin, origin.boundary(mesh, which) + " is of no kind", "make it land, sea or river");
    const auto [count, side] = elements_at(halves, edge);
    if (count != 1)
      throw broken(origin,
                   origin.boundary(mesh, which) + (count == 0 ? ", which is no edge of an element"
                                                              : ", which has elements on both sides"),
                   "name edges of one element only");
    if (named[static_cast<std::size_t>(side)])
      throw broken(origin, origin.boundary(mesh, which) + " is named twice", "name each edge once");
    named[static_cast<std::size_t>(side)] = true;
  }
  for (std::size_t which = 0; which < mesh.element_count(); ++which) {
    for (std::size_t side = 0; side < 3; ++side) {
      if (named[3 * which + side]) continue;
      const auto& element = mesh.elements[which];
      const BoundaryEdge edge{.nodes = {element[side], element[(side + 1) % 3]}};
      if (elements_at(halves, edge).first > 1) continue;
      throw broken(origin,
                   fmt::format("no boundary names the edge of {} between nodes {} and {}",
                               origin.element(which), edge.nodes[0] + 1, edge.nodes[1] + 1),
                   "name it as land, sea or river");
    }
  }
}

}  // namespace

std::string Origin::node(std::size_t which) const { return named("node", which, node_lines); }

std::string Origin::element(std::size_t which) const { return named("element", which, element_lines); }

std::string Origin::boundary(const Mesh& mesh, std::size_t which) const {
  const auto [from, to] = mesh.boundary[which].nodes;
  const std::string edge = fmt::format("nodes {} and {}", std::int64_t{from} + 1, std::int64_t{to} + 1);
  return which < boundary_lines.size()
             ? fmt::format("line {}: the boundary between {}", boundary_lines[which], edge)
             : "the boundary between " + edge;
}

void check(const Mesh& mesh, const Origin& origin) {
  if (mesh.elements.empty()) throw broken(origin, "there is no element", "give it some");
  check_nodes(mesh, origin);
  check_elements(mesh, origin);
  check_edges(mesh, origin);
  check_boundary(mesh, origin);
}

}  // namespace fabricmark::mesh
