#include "apps/shallow_water/worst.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fabricmark::shallow_water {

namespace {

/// The points of the sides, from which flux and depth are taken.
std::array<double, 2> side_point(int side, double t) {
  if (side == 0) return {t, 0};
  return side == 1 ? std::array{1 - t, t} : std::array{0.0, 1 - t};
}

}  // namespace

Worst state_of(const Problem& problem, const Basis& basis, const LocalMesh& local, const Field& field,
               std::size_t place) {
  static const std::array<std::vector<LinePoint>, 3> points{line_points(1), line_points(2), line_points(3)};
  Worst state{.element = local.elements[place], .depth = std::numeric_limits<double>::infinity()};
  double sum = 0;
  for (int side = 0; side < LocalMesh::kSides; ++side) {
    const auto geometry = [&](int number) {
      return local.geometry[static_cast<std::size_t>(number) * local.padded + place];
    };
    double mean = 0;
    for (const LinePoint& point : points[static_cast<std::size_t>(basis.order())]) {
      const auto [r, s] = side_point(side, point.t);
      std::array<double, kUnknowns> at{};
      for (int mode = 0; mode < basis.modes(); ++mode) {
        for (int unknown = 0; unknown < kUnknowns; ++unknown) {
          at[static_cast<std::size_t>(unknown)] += basis.value(mode, r, s) * field.at(unknown, mode, place);
        }
      }
      const double h = (1 - point.t) * geometry(side) + point.t * geometry((side + 1) % 3) + at[0];
      state.is_number = state.is_number && std::isfinite(h) && std::isfinite(at[1]) && std::isfinite(at[2]);
      state.depth = std::min(state.depth, h);
      const double speed = std::hypot(at[1], at[2]) / h + std::sqrt(problem.physics.gravity * h);
      mean += point.weight * speed;
    }
    sum += geometry(9 + side) * mean;
  }
  state.seconds = 2 / sum / (2 * basis.order() + 1);
  return state;
}

Worst worst_of(const Problem& problem, const Basis& basis, const LocalMesh& local, const Field& field) {
  const double least = problem.physics.least_depth;
  const auto is_worse = [&](const Worst& one, const Worst& other) {
    if (one.is_number != other.is_number) return !one.is_number;
    if (one.depth < least || other.depth < least) return one.depth < other.depth;
    return one.seconds < other.seconds;
  };
  Worst worst = state_of(problem, basis, local, field, 0);
  for (std::size_t place = 1; place < local.own(); ++place) {
    const Worst one = state_of(problem, basis, local, field, place);
    if (is_worse(one, worst)) worst = one;
  }
  return worst;
}

std::string Worst::words(const Problem& problem, double dt) const {
  if (!is_number) return "a value that is no number";
  if (depth < problem.physics.least_depth) {
    return fmt::format("{:.4g} m of water, less than the minimum depth of {:.4g} m", depth,
                       problem.physics.least_depth);
  }
  return fmt::format("a step of {:.4g} s, longer than the {:.4g} s that are stable", dt, seconds);
}

std::string Worst::remedy(const Problem& problem) const {
  if (!is_number) return "try a smaller --cfl or --dt; check the depths of the mesh around that element";
  if (depth < problem.physics.least_depth) {
    return "elements cannot run dry: deepen the mesh there, or lower --minimum-depth";
  }
  return "give a smaller --cfl or --dt";
}

}  // namespace fabricmark::shallow_water
