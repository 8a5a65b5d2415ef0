#include "apps/shallow_water/basis.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace fabricmark::shallow_water {

namespace {

struct Powers {
  int r = 0;
  int s = 0;
};
constexpr std::array<Powers, 6> kMonomials{{{0, 0}, {0, 1}, {1, 0}, {0, 2}, {1, 1}, {2, 0}}};

double power(double base, int exponent) { return exponent == 0 ? 1 : std::pow(base, exponent); }

double monomial(const Powers& powers, double r, double s) { return power(r, powers.r) * power(s, powers.s); }

/// A Legendre polynomial and its derivative at x.
std::array<double, 2> legendre(int degree, double x) {
  double before = 1;
  double value = x;
  for (int k = 2; k <= degree; ++k) {
    before = std::exchange(value, ((2 * k - 1) * x * value - (k - 1) * before) / k);
  }
  return {value, degree * (x * value - before) / (x * x - 1)};
}

}  // namespace

std::vector<LinePoint> line_points(int count) {
  std::vector<LinePoint> points;
  if (count == 1) return {{0.5, 1}};
  for (int i = 0; i < count; ++i) {
    double x = -std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5));
    for (int iteration = 0; iteration < 100; ++iteration) {
      const auto [value, slope] = legendre(count, x);
      const double step = value / slope;
      x -= step;
      if (std::abs(step) < 1e-16) break;
    }
    const double slope = legendre(count, x)[1];
    points.push_back({(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)});
  }
  return points;
}

std::vector<VolumePoint> volume_points(int count) {
  std::vector<VolumePoint> points;
  for (const LinePoint& a : line_points(count)) {
    for (const LinePoint& b : line_points(count)) {
      points.push_back({a.t * (1 - b.t), b.t, 2 * a.weight * b.weight * (1 - b.t)});
    }
  }
  return points;
}

Basis::Basis(int order) : order_(order) {
  const std::vector<VolumePoint> points = volume_points(order + 2);
  const auto product = [&](auto&& one, auto&& other) {
    double sum = 0;
    for (const VolumePoint& point : points) {
      sum += point.weight * one(point.r, point.s) * other(point.r, point.s);
    }
    return sum;
  };
  for (int mode = 0; mode < modes(); ++mode) {
    std::vector<double> own(static_cast<std::size_t>(modes()), 0.0);
    own[static_cast<std::size_t>(mode)] = 1;
    coefficients_.push_back(own);
    const auto current = [&](double r, double s) { return value(mode, r, s); };
    for (int turn = 0; turn < 2; ++turn) {  // twice is enough (Kahan)
      for (int before = 0; before < mode; ++before) {
        const double shared = product(current, [&](double r, double s) { return value(before, r, s); });
        for (std::size_t k = 0; k < own.size(); ++k) {
          coefficients_.back()[k] -= shared * coefficients_[static_cast<std::size_t>(before)][k];
        }
      }
    }
    const double length = std::sqrt(product(current, current));
    for (double& coefficient : coefficients_.back()) coefficient /= length;
  }
}

double Basis::value(int mode, double r, double s) const {
  const std::vector<double>& own = coefficients_[static_cast<std::size_t>(mode)];
  double sum = 0;
  for (std::size_t k = 0; k < own.size(); ++k) sum += own[k] * monomial(kMonomials[k], r, s);
  return sum;
}

std::array<double, 2> Basis::gradient(int mode, double r, double s) const {
  const std::vector<double>& own = coefficients_[static_cast<std::size_t>(mode)];
  std::array<double, 2> sums{};
  for (std::size_t k = 0; k < own.size(); ++k) {
    const Powers& powers = kMonomials[k];
    if (powers.r > 0) sums[0] += own[k] * powers.r * monomial({powers.r - 1, powers.s}, r, s);
    if (powers.s > 0) sums[1] += own[k] * powers.s * monomial({powers.r, powers.s - 1}, r, s);
  }
  return sums;
}

std::vector<double> Basis::project(const std::function<double(double r, double s)>& function) const {
  constexpr int kPoints = 6;
  static const std::vector<VolumePoint> points = volume_points(kPoints);
  std::vector<double> found(static_cast<std::size_t>(modes()), 0.0);
  const double first = function(points.front().r, points.front().s);
  // What is left beside a constant, so that a constant is itself in every bit.
  found[0] = first;
  for (const VolumePoint& point : points) {
    const double rest = point.weight * (function(point.r, point.s) - first);
    if (rest == 0) continue;
    for (int mode = 0; mode < modes(); ++mode) {
      found[static_cast<std::size_t>(mode)] += rest * value(mode, point.r, point.s);
    }
  }
  return found;
}

}  // namespace fabricmark::shallow_water
