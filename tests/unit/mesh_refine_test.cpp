#include "mesh/refine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/error.hpp"
#include "mesh/check.hpp"
#include "mesh/partition.hpp"
#include "mesh/quality.hpp"
#include "mesh/shapes.hpp"

namespace fabricmark::mesh {

namespace {

/// Depth that is linear in the plane, which every interpolation has to keep.
Mesh sloping(Mesh mesh) {
  for (std::size_t i = 0; i < mesh.node_count(); ++i)
    mesh.depth[i] = 5 + 2e-5 * mesh.x[i] + 3e-5 * (mesh.y[i] + 1e4);
  return mesh;
}

void expect_slope(const Mesh& mesh) {
  const Mesh wanted = sloping(mesh);
  for (std::size_t i = 0; i < mesh.node_count(); ++i) ASSERT_NEAR(mesh.depth[i], wanted.depth[i], 1e-9);
}

Mesh coarse() {
  Mesh mesh = bay(300);
  for (double& y : mesh.y) y += 1e4;
  mesh.boundary[3].kind = EdgeKind::kRiver;
  return sloping(mesh);
}

TEST(MeshRefine, SubdivisionKeepsShapeKindsAndDepth) {
  const Mesh mesh = coarse();
  const Quality before = quality(mesh);
  for (const int k : {1, 2, 3, 5}) {
    const Mesh fine = subdivided(mesh, k);
    check(fine);
    expect_slope(fine);
    const Quality after = quality(fine);
    EXPECT_EQ(after.elements, before.elements * static_cast<std::size_t>(k * k));
    for (const EdgeKind kind : {EdgeKind::kLand, EdgeKind::kSea, EdgeKind::kRiver}) {
      const auto which = static_cast<std::size_t>(kind);
      EXPECT_EQ(after.edges[which], before.edges[which] * static_cast<std::size_t>(k));
    }
    EXPECT_NEAR(after.area_m2, before.area_m2, 1e-9 * before.area_m2);
    EXPECT_NEAR(after.smallest_angle_degrees, before.smallest_angle_degrees, 1e-6);
    EXPECT_NEAR(after.longest_edge_m, before.longest_edge_m / k, 1e-6);
  }
  EXPECT_THROW(subdivided(mesh, 0), Error);
  EXPECT_THROW(subdivided(mesh, 100'000), Error);
}

TEST(MeshRefine, BisectionGivesExactlySoManyAndNoFlatElements) {
  const Mesh mesh = coarse();
  const Quality before = quality(mesh);
  for (const std::int64_t elements : {300, 301, 302, 303, 450, 599, 600, 601, 1201, 4800}) {
    const Mesh fine = bisected(mesh, elements);
    check(fine);
    expect_slope(fine);
    const Quality after = quality(fine);
    EXPECT_EQ(after.elements, static_cast<std::size_t>(elements));
    EXPECT_NEAR(after.area_m2, before.area_m2, 1e-9 * before.area_m2);
    EXPECT_GE(after.smallest_angle_degrees, 0.4 * before.smallest_angle_degrees);
    EXPECT_GE(after.edges[static_cast<std::size_t>(EdgeKind::kRiver)], 1U);
    EXPECT_EQ(after.pieces, 1U);
  }
  EXPECT_THROW(bisected(mesh, 299), Error);
}

TEST(MeshRefine, QualityOfAKnownMesh) {
  const Quality found = quality(rectangle(4, 2, 40, 20, 2));
  EXPECT_DOUBLE_EQ(found.area_m2, 800);
  EXPECT_DOUBLE_EQ(found.smallest_area_m2, 50);
  EXPECT_NEAR(found.smallest_angle_degrees, 45, 1e-9);
  EXPECT_NEAR(found.longest_edge_m, 10 * std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(found.step_at_rest_s, 100 / (20 + 10 * std::sqrt(2.0)) / std::sqrt(9.81 * 2), 1e-12);
  EXPECT_NEAR(found.worst_aspect, (1 + std::sqrt(2.0)) / std::sqrt(3.0), 1e-9);
  EXPECT_EQ(found.pieces, 1U);
}

TEST(MeshPartition, CostsAreThoseOfTheParts) {
  const Mesh mesh = bay(2500);
  for (const int count : {2, 5, 9}) {
    const auto part_of = partition(mesh, count);
    const auto costs = part_costs(mesh, part_of, count);
    for (int which = 0; which < count; ++which) {
      const Part own = part(mesh, part_of, which);
      const PartCost& cost = costs[static_cast<std::size_t>(which)];
      EXPECT_EQ(cost.elements, own.elements.size());
      EXPECT_EQ(cost.core(), own.core);
      EXPECT_EQ(cost.neighbours, own.neighbours.size());
      EXPECT_LE(static_cast<double>(cost.elements), 1.03 * 2500 / count + 1);
    }
    EXPECT_EQ(part_of, partition(bay(2500), count));
    partition(mesh, count + 1);  // what the last call kept is not taken for another one
    EXPECT_EQ(part_of, partition(mesh, count));
  }
}

TEST(MeshPartition, RanksOfOneProcessGetTheSame) {
  const Mesh mesh = bay(1234);
  std::vector<std::vector<std::int32_t>> found(12);
  {
    std::vector<std::jthread> ranks;
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      ranks.emplace_back([&, rank] { found[rank] = partition(mesh, rank % 2 == 0 ? 6 : 7); });
    }
  }
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    EXPECT_EQ(found[rank], partition(mesh, rank % 2 == 0 ? 6 : 7)) << rank;
  }
}

TEST(MeshPartition, AsManyPartsAsElements) {
  for (const int count : {29, 30}) {
    const Mesh mesh = bay(30);
    std::vector<int> sizes(static_cast<std::size_t>(count));
    for (const std::int32_t part : partition(mesh, count)) ++sizes.at(static_cast<std::size_t>(part));
    for (const int size : sizes) EXPECT_GE(size, 1);
  }
}

}  // namespace

}  // namespace fabricmark::mesh
