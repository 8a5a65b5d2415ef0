#include "apps/shallow_water/local_mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/shallow_water/problem.hpp"
#include "mesh/order.hpp"

namespace fabricmark::shallow_water {

namespace {

constexpr std::size_t kAlignment = 64;  // elements, so that every array of a state starts as the first does

std::size_t rounded_up(std::size_t count, std::size_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

std::int32_t code_of(mesh::EdgeKind kind) {
  switch (kind) {
    case mesh::EdgeKind::kSea:
      return kSeaCode;
    case mesh::EdgeKind::kRiver:
      return kRiverCode;
    default:
      return kLandCode;
  }
}

/// Own elements where they are computed: near ones near each other, core elements first.
std::vector<std::int32_t> ordered_elements(const mesh::Mesh& mesh, const mesh::Part& part) {
  std::vector<std::int32_t> rank_in_curve(mesh.element_count());
  const std::vector<std::int32_t> curve = mesh::curve_order(mesh);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    rank_in_curve[static_cast<std::size_t>(curve[i])] = static_cast<std::int32_t>(i);
  }
  std::vector<std::int32_t> elements = part.elements;
  const auto earlier = [&](std::int32_t one, std::int32_t other) {
    return rank_in_curve[static_cast<std::size_t>(one)] < rank_in_curve[static_cast<std::size_t>(other)];
  };
  const auto border = elements.begin() + static_cast<std::ptrdiff_t>(part.core);
  std::sort(elements.begin(), border, earlier);
  std::sort(border, elements.end(), earlier);
  return elements;
}

void describe_sides(const mesh::Mesh& mesh, LocalMesh& local) {
  constexpr int kNx = 3;
  constexpr int kNy = 6;
  constexpr int kRatio = 9;
  constexpr double kDeep = 1e4;
  local.geometry.assign(LocalMesh::kGeometry * local.padded, 0.0);
  for (std::size_t place = 0; place < local.padded; ++place) {
    for (int side = 0; side < LocalMesh::kSides; ++side) {
      const auto at = [&](int number) -> double& {
        return local.geometry[static_cast<std::size_t>(number + side) * local.padded + place];
      };
      if (place >= local.own()) {  // deep water at rest, on which nothing acts
        at(0) = kDeep;
        at(kNx) = 1;
        continue;
      }
      const auto element = static_cast<std::size_t>(local.elements[place]);
      const auto node = [&](int i) { return static_cast<std::size_t>(mesh.elements[element][i % 3]); };
      const double dx = mesh.x[node(side + 1)] - mesh.x[node(side)];
      const double dy = mesh.y[node(side + 1)] - mesh.y[node(side)];
      const double length = std::hypot(dx, dy);
      at(0) = mesh.depth[node(side)];
      at(kNx) = dy / length;
      at(kNy) = -dx / length;
      at(kRatio) = length / local.areas[place];
    }
  }
}

}  // namespace

LocalMesh local_mesh(const mesh::Mesh& mesh, const std::vector<std::int32_t>& part_of, int rank,
                     std::size_t multiple) {
  const mesh::Part part = mesh::part(mesh, part_of, rank);
  LocalMesh local;
  local.elements = ordered_elements(mesh, part);
  local.core = part.core;
  local.padded = rounded_up(local.own(), multiple);
  std::vector<std::int32_t> place_of(mesh.element_count(), -1);
  for (std::size_t place = 0; place < local.own(); ++place) {
    place_of[static_cast<std::size_t>(local.elements[place])] = static_cast<std::int32_t>(place);
    local.areas.push_back(area(mesh, static_cast<std::size_t>(local.elements[place])));
  }
  for (const mesh::Part::Neighbour& neighbour : part.neighbours) {
    LocalMesh::Neighbour& own = local.neighbours.emplace_back();
    own.rank = neighbour.part;
    for (const std::int32_t sent : neighbour.send) {
      own.send.push_back(place_of[static_cast<std::size_t>(part.elements[static_cast<std::size_t>(sent)])]);
    }
    for (const std::int32_t element : neighbour.receive) {
      const auto place = static_cast<std::int32_t>(local.padded + local.received++);
      place_of[static_cast<std::size_t>(element)] = place;
      own.receive.push_back(place);
    }
  }
  local.stride = rounded_up(local.padded + local.received, kAlignment);
  describe_sides(mesh, local);
  local.codes.assign(LocalMesh::kSides * local.padded, kLandCode);
  const auto code = [&](std::int32_t element, int side) -> std::int32_t* {
    const std::int32_t place = place_of[static_cast<std::size_t>(element)];
    if (place < 0 || static_cast<std::size_t>(place) >= local.own()) return nullptr;
    return &local.codes[static_cast<std::size_t>(side) * local.padded + static_cast<std::size_t>(place)];
  };
  const auto beyond = [&](std::int32_t element, int side) {
    return 4 * place_of[static_cast<std::size_t>(element)] + side;
  };
  for (const mesh::Edge& edge : mesh::edges_of(mesh)) {
    std::int32_t* const left = code(edge.left, edge.left_side);
    if (edge.right < 0) {
      if (left != nullptr) *left = code_of(edge.kind);
      continue;
    }
    if (left != nullptr) *left = beyond(edge.right, edge.right_side);
    if (std::int32_t* const right = code(edge.right, edge.right_side)) {
      *right = beyond(edge.left, edge.left_side);
    }
  }
  return local;
}

}  // namespace fabricmark::shallow_water
