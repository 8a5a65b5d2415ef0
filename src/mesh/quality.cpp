#include "mesh/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace fabricmark::mesh {

namespace {

constexpr double kGravity = 9.81;

struct Shape {
  std::array<double, 3> lengths{};  // ascending
  double area = 0;
  double depth = 0;  // of the deepest node
};

Shape shape_of(const Mesh& mesh, const std::array<std::int32_t, 3>& nodes) {
  Shape shape;
  const auto x = [&](std::size_t i) { return mesh.x[static_cast<std::size_t>(nodes[i % 3])]; };
  const auto y = [&](std::size_t i) { return mesh.y[static_cast<std::size_t>(nodes[i % 3])]; };
  for (std::size_t i = 0; i < 3; ++i) {
    shape.lengths[i] = std::hypot(x(i + 1) - x(i), y(i + 1) - y(i));
    shape.depth = std::max(shape.depth, mesh.depth[static_cast<std::size_t>(nodes[i])]);
  }
  std::ranges::sort(shape.lengths);
  shape.area = ((x(1) - x(0)) * (y(2) - y(0)) - (x(2) - x(0)) * (y(1) - y(0))) / 2;
  return shape;
}

/// How many sets of elements there are that edges join (union of sets by halving paths).
std::size_t pieces_of(const std::vector<Edge>& edges, std::size_t elements) {
  std::vector<std::size_t> above(elements);
  std::iota(above.begin(), above.end(), std::size_t{0});
  const auto top = [&](std::size_t element) {
    while (above[element] != element) element = above[element] = above[above[element]];
    return element;
  };
  std::size_t pieces = elements;
  for (const Edge& edge : edges) {
    if (edge.right < 0) continue;
    const std::size_t left = top(static_cast<std::size_t>(edge.left));
    const std::size_t right = top(static_cast<std::size_t>(edge.right));
    if (left == right) continue;
    above[std::max(left, right)] = std::min(left, right);
    --pieces;
  }
  return pieces;
}

}  // namespace

Quality quality(const Mesh& mesh) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  Quality found{.elements = mesh.element_count(), .nodes = mesh.node_count()};
  found.smallest_area_m2 = found.shortest_edge_m = found.smallest_angle_degrees = found.step_at_rest_s = kFar;
  for (std::size_t which = 0; which < mesh.element_count(); ++which) {
    const Shape shape = shape_of(mesh, mesh.elements[which]);
    const auto [shortest, middle, longest] = shape.lengths;
    const double perimeter = shortest + middle + longest;
    const double angle =
        std::asin(std::min(1.0, 2 * shape.area / (middle * longest))) * 180 / std::numbers::pi;
    const double inner_radius = 2 * shape.area / perimeter;
    if (angle < found.smallest_angle_degrees) found.worst_element = which;
    found.smallest_angle_degrees = std::min(found.smallest_angle_degrees, angle);
    found.mean_smallest_angle_degrees += angle / static_cast<double>(mesh.element_count());
    found.worst_aspect = std::max(found.worst_aspect, longest / (2 * std::numbers::sqrt3 * inner_radius));
    found.area_m2 += shape.area;
    found.smallest_area_m2 = std::min(found.smallest_area_m2, shape.area);
    found.largest_area_m2 = std::max(found.largest_area_m2, shape.area);
    found.shortest_edge_m = std::min(found.shortest_edge_m, shortest);
    found.longest_edge_m = std::max(found.longest_edge_m, longest);
    found.step_at_rest_s = std::min(found.step_at_rest_s, inner_radius / std::sqrt(kGravity * shape.depth));
  }
  const auto [least, largest] = std::ranges::minmax(mesh.depth);
  found.least_depth_m = least;
  found.largest_depth_m = largest;
  const std::vector<Edge> edges = edges_of(mesh);
  for (const Edge& edge : edges) ++found.edges[static_cast<std::size_t>(edge.kind)];
  found.pieces = pieces_of(edges, mesh.element_count());
  return found;
}

}  // namespace fabricmark::mesh
