#include "apps/shallow_water/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/shallow_water/gather.hpp"

namespace fabricmark::shallow_water {

namespace {

double epsilon_of(const runtime::Context& context) {
  return context.parameters().text("data_type") == "double" ? std::numeric_limits<double>::epsilon()
                                                            : std::numeric_limits<float>::epsilon();
}

/// What errors of elevation and velocities count against.
std::array<double, kUnknowns> scales_of(const Problem& problem, const Field& whole) {
  std::array<double, kUnknowns> largest{};
  const std::size_t each = static_cast<std::size_t>(whole.modes) * whole.elements;
  for (std::size_t i = 0; i < whole.values.size(); ++i) {
    double& of_unknown = largest[i / each];
    of_unknown = std::max(of_unknown, std::abs(whole.values[i]));
  }
  // What a wave of this height moves.
  const double depth = *std::ranges::max_element(problem.mesh.depth);
  const double wave = largest[0] * std::sqrt(problem.physics.gravity * depth);
  const double flow = std::max({largest[1], largest[2], wave});
  const double height = std::max(largest[0], flow / std::sqrt(problem.physics.gravity * depth));
  return {height, flow, flow};
}

}  // namespace

runtime::Verdict reference_verdict(const runtime::Context& context, const Problem& problem,
                                   const Basis& basis, const LocalMesh& local,
                                   const std::vector<std::vector<std::int32_t>>& elements,
                                   const Window& window) {
  const Reference reference(problem, basis, context.parameters().text("flux"), local.elements,
                            window.steps.count);
  const Field whole = gathered(context.ranks(), elements, window.before);
  const Field expected = reference.advance(whole, window.steps);
  const std::array<double, kUnknowns> scales = scales_of(problem, expected);
  constexpr double kRoundings = 64;  // of a step
  runtime::Verdict verdict{
      .name = fmt::format("steps {} to {}", window.steps.first, window.steps.first + window.steps.count),
      .measure = "largest error relative to the largest value",
      .checked = window.after.values.size()};
  verdict.threshold = kRoundings * epsilon_of(context) * static_cast<double>(window.steps.count);
  const Field own = part_of(expected, local.elements);
  for (std::size_t i = 0; i < own.values.size(); ++i) {
    const std::size_t number = i / own.elements;
    const std::size_t unknown = number / static_cast<std::size_t>(own.modes);
    const double difference = std::abs(window.after.values[i] - own.values[i]);
    if (difference == 0) continue;
    const double error = std::isnan(difference) ? difference : difference / scales[unknown];
    if (error <= verdict.error) continue;
    verdict.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    const auto element = static_cast<std::size_t>(local.elements[i % own.elements]);
    verdict.worst = {fmt::format("{}[{}] of element {}", kUnknownNames[unknown],
                                 number % static_cast<std::size_t>(own.modes), element + 1),
                     own.values[i], window.after.values[i]};
  }
  return verdict;
}

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
