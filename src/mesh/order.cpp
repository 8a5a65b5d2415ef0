#include "mesh/order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fabricmark::mesh {

namespace {

constexpr unsigned kBits = 24;  // of a place in each direction

/// Where a point of a square of 2^kBits points a side lies on the Hilbert curve through all of them.
std::uint64_t curve_place(std::uint32_t x, std::uint32_t y) {
  std::uint64_t place = 0;
  for (std::uint32_t half = 1U << (kBits - 1); half > 0; half /= 2) {
    const bool right = (x & half) != 0;
    const bool upper = (y & half) != 0;
    place = 4 * place + (right ? 3U : 0U) - (right && upper ? 1U : 0U) + (!right && upper ? 1U : 0U);
    if (upper) continue;
    if (right) {
      x = ~x;
      y = ~y;
    }
    std::swap(x, y);
  }
  return place;
}

}  // namespace

std::vector<std::int32_t> curve_order(const Mesh& mesh) {
  const auto [left, right] = std::ranges::minmax(mesh.x);
  const auto [bottom, top] = std::ranges::minmax(mesh.y);
  const double size = std::max({right - left, top - bottom, 1e-300});
  const auto grid = [&](double sum, double least) {
    return static_cast<std::uint32_t>((sum / 3 - least) / size * ((1U << kBits) - 1));
  };
  std::vector<std::pair<std::uint64_t, std::int32_t>> places;
  places.reserve(mesh.element_count());
  for (std::size_t which = 0; which < mesh.element_count(); ++which) {
    double x = 0;
    double y = 0;
    for (const std::int32_t node : mesh.elements[which]) {
      x += mesh.x[static_cast<std::size_t>(node)];
      y += mesh.y[static_cast<std::size_t>(node)];
    }
    places.emplace_back(curve_place(grid(x, left), grid(y, bottom)), static_cast<std::int32_t>(which));
  }
  std::ranges::sort(places);
  std::vector<std::int32_t> order;
  order.reserve(places.size());
  for (const auto& [unused, which] : places) order.push_back(which);
  return order;
}

Mesh ordered(const Mesh& mesh) {
  constexpr std::int32_t kNone = -1;
  Mesh result;
  result.title = mesh.title;
  result.elements.reserve(mesh.element_count());
  result.x.reserve(mesh.node_count());
  result.y.reserve(mesh.node_count());
  result.depth.reserve(mesh.node_count());
  std::vector<std::int32_t> number(mesh.node_count(), kNone);
  for (const std::int32_t which : curve_order(mesh)) {
    auto element = mesh.elements[static_cast<std::size_t>(which)];
    for (std::int32_t& node : element) {
      const auto old = static_cast<std::size_t>(node);
      if (number[old] == kNone) {
        number[old] = static_cast<std::int32_t>(result.x.size());
        result.x.push_back(mesh.x[old]);
        result.y.push_back(mesh.y[old]);
        result.depth.push_back(mesh.depth[old]);
      }
      node = number[old];
    }
    result.elements.push_back(element);
  }
  result.boundary = mesh.boundary;
  for (BoundaryEdge& edge : result.boundary) {
    for (std::int32_t& node : edge.nodes) node = number[static_cast<std::size_t>(node)];
  }
  return result;
}

}  // namespace fabricmark::mesh
