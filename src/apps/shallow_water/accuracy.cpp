#include "apps/shallow_water/accuracy.hpp"

#include <cmath>
#include <vector>

namespace fabricmark::shallow_water {

double volume(const LocalMesh& local, const Field& field) {
  double sum = 0;
  for (std::size_t place = 0; place < local.own(); ++place) sum += local.areas[place] * field.at(0, 0, place);
  return sum;
}

double water(const LocalMesh& local, const Field& field) {
  double sum = 0;
  for (std::size_t place = 0; place < local.own(); ++place) {
    const double depths = local.geometry[place] + local.geometry[local.padded + place] +
                          local.geometry[2 * local.padded + place];
    sum += local.areas[place] * (depths / 3 + field.at(0, 0, place));
  }
  return sum;
}

Errors errors_of(runtime::Communicator& ranks, const Problem& problem, const Basis& basis,
                 const LocalMesh& local, const Field& field, double seconds) {
  constexpr int kPoints = 5;
  const std::vector<VolumePoint> points = volume_points(kPoints);
  double xi_error = 0;
  double xi_all = 0;
  double h_error = 0;
  double h_all = 0;
  double mean_error = 0;
  double mean_all = 0;
  for (std::size_t place = 0; place < local.own(); ++place) {
    const auto element = static_cast<std::size_t>(local.elements[place]);
    const auto depth = [&](double r, double s) {
      return (1 - r - s) * local.geometry[place] + r * local.geometry[local.padded + place] +
             s * local.geometry[2 * local.padded + place];
    };
    const auto exact = [&](double r, double s) {
      const auto [x, y] = place_in(problem.mesh, element, r, s);
      return problem.solution(x, y, seconds).xi;
    };
    for (const VolumePoint& point : points) {
      double xi = 0;
      for (int mode = 0; mode < basis.modes(); ++mode) {
        xi += basis.value(mode, point.r, point.s) * field.at(0, mode, place);
      }
      const double should_be = exact(point.r, point.s);
      const double weight = point.weight * local.areas[place];
      xi_error += weight * (xi - should_be) * (xi - should_be);
      xi_all += weight * should_be * should_be;
      h_error += weight * std::abs(xi - should_be);
      h_all += weight * (depth(point.r, point.s) + should_be);
    }
    constexpr double kThird = 1.0 / 3;
    const double at_centre = exact(kThird, kThird);
    mean_error += local.areas[place] * std::abs(field.at(0, 0, place) - at_centre);
    mean_all += local.areas[place] * (depth(kThird, kThird) + at_centre);
  }
  const auto relative = [&](double error, double all) {
    const double sum = ranks.all_reduce_sum(error);
    return sum / ranks.all_reduce_sum(all);
  };
  return {std::sqrt(relative(xi_error, xi_all)), relative(h_error, h_all), relative(mean_error, mean_all)};
}

}  // namespace fabricmark::shallow_water
