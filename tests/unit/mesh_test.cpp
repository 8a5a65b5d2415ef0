#include "mesh/mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "mesh/check.hpp"
#include "mesh/fort14.hpp"
#include "mesh/order.hpp"
#include "mesh/partition.hpp"
#include "mesh/shapes.hpp"

namespace fabricmark::mesh {

namespace {

std::map<EdgeKind, int> counted(const Mesh& mesh) {
  std::map<EdgeKind, int> counts;
  for (const Edge& edge : edges_of(mesh)) ++counts[edge.kind];
  return counts;
}

TEST(Mesh, EdgesOfARectangle) {
  const Mesh mesh = rectangle(3, 2, 30, 10, 4, {.left = EdgeKind::kRiver, .right = EdgeKind::kSea});
  check(mesh);
  EXPECT_EQ(mesh.element_count(), 12U);
  EXPECT_EQ(mesh.node_count(), 12U);
  const std::map<EdgeKind, int> expected{
      {EdgeKind::kInterior, 13}, {EdgeKind::kLand, 6}, {EdgeKind::kSea, 2}, {EdgeKind::kRiver, 2}};
  EXPECT_EQ(counted(mesh), expected);
  std::int32_t last = -1;
  for (const Edge& edge : edges_of(mesh)) {
    EXPECT_LT(last, 3 * edge.left + edge.left_side);  // in the order of first element and side
    last = 3 * edge.left + edge.left_side;
    if (edge.right < 0) continue;
    EXPECT_LT(edge.left, edge.right);
    const auto at = [&](std::int32_t element, int side) {
      return mesh.elements[static_cast<std::size_t>(element)][static_cast<std::size_t>(side % 3)];
    };
    EXPECT_EQ(at(edge.left, edge.left_side), at(edge.right, edge.right_side + 1));
    EXPECT_EQ(at(edge.left, edge.left_side + 1), at(edge.right, edge.right_side));
  }
}

TEST(Mesh, BaysHaveExactlySoManyElements) {
  std::vector<std::int64_t> sizes(400);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = static_cast<std::int64_t>(i) + 2;
  sizes.insert(sizes.end(), {1696, 6784, 27136, 27137, 99999, 108544});
  for (const std::int64_t size : sizes) {
    const Mesh mesh = bay(size);
    EXPECT_EQ(mesh.element_count(), static_cast<std::size_t>(size));
    EXPECT_NO_THROW(check(mesh)) << size;
    const auto kinds = counted(mesh);
    EXPECT_GE(kinds.at(EdgeKind::kSea), 1);
    EXPECT_GE(kinds.at(EdgeKind::kLand), 2);
  }
  EXPECT_THROW(bay(1), Error);
  EXPECT_THROW(named_mesh("bay:many"), Error);
}

TEST(Mesh, OrderKeepsEverything) {
  const Mesh mesh = bay(5000);
  const Mesh same = ordered(mesh);
  check(same);
  EXPECT_EQ(counted(same), counted(mesh));
  const auto corners = [](const Mesh& of) {
    std::multiset<std::pair<double, double>> places;
    for (const auto& element : of.elements) {
      for (const std::int32_t node : element)
        places.emplace(of.x[static_cast<std::size_t>(node)], of.y[static_cast<std::size_t>(node)]);
    }
    return places;
  };
  EXPECT_EQ(corners(same), corners(mesh));
  // Neighbours along the curve are neighbours in the plane: far fewer edges join distant elements.
  const auto near = [](const Mesh& of) {
    const auto edges = edges_of(of);
    return std::ranges::count_if(edges, [](const Edge& edge) { return edge.right - edge.left < 64; });
  };
  EXPECT_GT(static_cast<double>(near(same)), 0.85 * static_cast<double>(edges_of(same).size()));
}

TEST(Mesh, PartsExchangeWhatTheirNeighboursNeed) {
  const Mesh mesh = bay(3001);
  for (const int count : {1, 2, 7, 16}) {
    const auto part_of = partition(mesh, count);
    std::vector<Part> parts;
    for (int which = 0; which < count; ++which) parts.push_back(part(mesh, part_of, which));
    std::vector<int> owners(mesh.element_count());
    for (int which = 0; which < count; ++which) {
      const Part& own = parts[static_cast<std::size_t>(which)];
      for (const std::int32_t element : own.elements) ++owners[static_cast<std::size_t>(element)];
      for (const Part::Neighbour& neighbour : own.neighbours) {
        const auto& theirs = parts[static_cast<std::size_t>(neighbour.part)];
        const auto back = std::ranges::find(theirs.neighbours, which, &Part::Neighbour::part);
        ASSERT_NE(back, theirs.neighbours.end());
        std::vector<std::int32_t> sent;
        for (const std::int32_t place : back->send) {
          EXPECT_GE(static_cast<std::size_t>(place), theirs.core);
          sent.push_back(theirs.elements[static_cast<std::size_t>(place)]);
        }
        EXPECT_EQ(sent, neighbour.receive);
      }
    }
    EXPECT_EQ(std::ranges::count(owners, 1), static_cast<std::ptrdiff_t>(mesh.element_count()));
  }
  EXPECT_THROW(partition(mesh, 3002), Error);
  EXPECT_THROW(partition(mesh, 0), Error);
}

}  // namespace

}  // namespace fabricmark::mesh
