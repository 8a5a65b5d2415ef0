// Parts of shallow water that need neither devices nor ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "apps/shallow_water/basis.hpp"
#include "apps/shallow_water/local_mesh.hpp"
#include "apps/shallow_water/problem.hpp"
#include "apps/shallow_water/reference.hpp"
#include "apps/shallow_water/work.hpp"
#include "mesh/shapes.hpp"
#include "unit/shallow_water_kernel.hpp"

namespace fabricmark::shallow_water {

namespace {

TEST(ShallowWaterKernel, DoesAsManyOperationsAsTheResultsCount) {
  using shallow_water_kernel::operations_of_stage;
  EXPECT_EQ(operations_of_stage<0>(), flops_of_step(0));
  EXPECT_EQ(2 * operations_of_stage<1>(), flops_of_step(1));
  EXPECT_EQ(3 * operations_of_stage<2>(), flops_of_step(2));
}

TEST(ShallowWaterBasis, IsOrthonormal) {
  const Basis basis(2);
  for (int one = 0; one < basis.modes(); ++one) {
    for (int other = 0; other < basis.modes(); ++other) {
      double sum = 0;
      for (const VolumePoint& point : volume_points(5)) {
        sum += point.weight * basis.value(one, point.r, point.s) * basis.value(other, point.r, point.s);
      }
      EXPECT_NEAR(sum, one == other ? 1 : 0, 1e-14) << one << " " << other;
    }
  }
}

TEST(ShallowWaterBasis, HasTheGradientsOfItsValues) {
  const Basis basis(2);
  constexpr double kStep = 1e-6;
  for (int mode = 0; mode < basis.modes(); ++mode) {
    const auto [by_r, by_s] = basis.gradient(mode, 0.2, 0.3);
    EXPECT_NEAR(by_r,
                (basis.value(mode, 0.2 + kStep, 0.3) - basis.value(mode, 0.2 - kStep, 0.3)) / (2 * kStep),
                1e-7);
    EXPECT_NEAR(by_s,
                (basis.value(mode, 0.2, 0.3 + kStep) - basis.value(mode, 0.2, 0.3 - kStep)) / (2 * kStep),
                1e-7);
  }
}

TEST(ShallowWaterBasis, ProjectsAConstantToItself) {
  const std::vector<double> modes = Basis(2).project([](double, double) { return 0.3; });
  EXPECT_EQ(modes[0], 0.3);
  for (std::size_t mode = 1; mode < modes.size(); ++mode) EXPECT_EQ(modes[mode], 0);
}

TEST(ShallowWaterCases, HaveTheStatesOfTheLiterature) {
  const Problem stoker_case = stoker({50, 1});
  const State middle = stoker_case.solution(5.3, 0.1, 6);
  EXPECT_NEAR(0.005 + middle.xi, 0.0025394, 5e-8);
  EXPECT_NEAR(middle.u / (0.005 + middle.xi), 0.12728, 5e-6);
  const auto depth = [](const Problem& problem, double x) {
    return 1 - std::max(0.0, 0.2 - 0.05 * (x - 10) * (x - 10)) + problem.solution(x, 0, 0).xi;
  };
  const Problem smooth = bump({50, 1}, /*has_shock=*/false);
  EXPECT_NEAR(depth(smooth, 1), 1.014447, 5e-7);
  EXPECT_NEAR(depth(smooth, 24), 0.4057809, 5e-8);
  const Problem jumping = bump({50, 1}, /*has_shock=*/true);
  EXPECT_NEAR(depth(jumping, 1), 0.4137357, 5e-8);
  EXPECT_NEAR(depth(jumping, 24), 0.33, 1e-12);
  // Where it jumps (SWASHES): 11.6655.
  EXPECT_LT(depth(jumping, 11.66), 0.1);
  EXPECT_GT(depth(jumping, 11.67), 0.25);
}

TEST(ShallowWaterCases, HaveTheHeadRatioOfLynchAndGray) {
  const Problem problem = lynch_gray({50, 1});
  // zeta(L) / a = r e^(i phi): its values at t = 0 and a quarter of a period later.
  const double real = problem.solution(1e5, 0, 0).xi / 1e-6;
  const double imaginary = -problem.solution(1e5, 0, 44712.0 / 4).xi / 1e-6;
  EXPECT_NEAR(std::hypot(real, imaginary), 1.99117, 5e-6);
  EXPECT_NEAR(std::atan2(imaginary, real) * 180 / std::numbers::pi, -80.600, 5e-4);
}

TEST(ShallowWaterLocalMesh, PutsEveryNeighbourWhereItIs) {
  const mesh::Mesh mesh = mesh::bay(500);
  const std::vector<std::int32_t> part_of = mesh::partition(mesh, 3);
  std::size_t own = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const LocalMesh local = local_mesh(mesh, part_of, rank, 16);
    own += local.own();
    EXPECT_EQ(local.padded % 16, 0);
    for (std::size_t place = 0; place < local.padded; ++place) {
      for (std::size_t side = 0; side < LocalMesh::kSides; ++side) {
        const std::int32_t code = local.codes[side * local.padded + place];
        EXPECT_TRUE(code >= kRiverCode && code < 4 * static_cast<std::int32_t>(local.stride));
        const bool is_core = place < local.core && code >= 0;
        EXPECT_TRUE(!is_core || code / 4 < static_cast<std::int32_t>(local.own()));
        if (code < 0 || static_cast<std::size_t>(code / 4) >= local.own()) continue;
        // Seen from there it is this one.
        const auto back =
            static_cast<std::size_t>(code % 4) * local.padded + static_cast<std::size_t>(code / 4);
        EXPECT_EQ(local.codes[back], 4 * static_cast<std::int32_t>(place) + static_cast<std::int32_t>(side));
      }
    }
  }
  EXPECT_EQ(own, mesh.element_count());
}

/// What the reference lacks of the order that it should have: a wave in a square.
double error_of_wave(int cells, int order) {
  const Problem problem = standing_wave({cells, cells});
  const Basis basis(order);
  std::vector<std::int32_t> all(problem.mesh.element_count());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  constexpr int kSteps = 4;
  constexpr int kThreads = 2;
  Reference reference(problem, basis, "rusanov", kThreads);
  reference.ask_for(all, kSteps);
  const double dt = 0.05 / cells / (2 * order + 1);
  const Field end = reference.advance(project(problem, basis, all), {0, kSteps, dt});
  double error = 0;
  for (std::size_t element = 0; element < all.size(); ++element) {
    for (const VolumePoint& point : volume_points(4)) {
      double xi = 0;
      for (int mode = 0; mode < basis.modes(); ++mode)
        xi += basis.value(mode, point.r, point.s) * end.at(0, mode, element);
      const auto [x, y] = place_in(problem.mesh, element, point.r, point.s);
      error += point.weight * area(problem.mesh, element) *
               std::pow(xi - problem.solution(x, y, kSteps * dt).xi, 2);
    }
  }
  return std::sqrt(error);
}

TEST(ShallowWaterReference, ConvergesWithItsOrder) {
  for (const int order : {1, 2}) {
    const double rate = std::log2(error_of_wave(4, order) / error_of_wave(8, order));
    EXPECT_GT(rate, order + 0.7) << "order " << order;
  }
}

}  // namespace

}  // namespace fabricmark::shallow_water
