// The cases with known solutions.
#include <cmath>
#include <complex>
#include <numbers>

#include "apps/shallow_water/problem.hpp"
#include "mesh/shapes.hpp"

namespace fabricmark::shallow_water {

namespace {

using std::numbers::pi;

constexpr double kGravity = 9.81;
constexpr double kDry = 1e-9;  // depth of cases that have no land

/// Where a function that is negative at `low` and positive at `high` is zero.
template <typename Function>
double root_between(double low, double high, const Function& function) {
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (function(middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

Problem channel(const Cells& cells, double lx, double depth, const mesh::Sides& sides) {
  Problem problem;
  problem.mesh = mesh::rectangle(cells.nx, cells.ny, lx, lx * cells.ny / cells.nx, depth, sides);
  problem.physics = {.gravity = kGravity, .least_depth = kDry};
  problem.forcing = [](double) { return Forcing{}; };
  return problem;
}

void start_from_solution(Problem& problem) {
  problem.initial = [solution = problem.solution](double x, double y) { return solution(x, y, 0); };
}

}  // namespace

// Stoker 1957, "Water waves": a wall between deep and shallow water goes.
Problem stoker(const Cells& cells) {
  constexpr double kLength = 10;
  constexpr double kDam = 5;
  constexpr double kLeft = 0.005;
  constexpr double kRight = 0.001;
  Problem problem = channel(cells, kLength, kLeft, {});
  problem.seconds = 6;
  const double left_wave = std::sqrt(kGravity * kLeft);
  const auto behind = [=](double h) { return 2 * (left_wave - std::sqrt(kGravity * h)); };
  const double middle = root_between(kRight, kLeft, [&](double h) {
    return (h - kRight) * std::sqrt(kGravity / 2 * (h + kRight) / (h * kRight)) - behind(h);
  });
  const double velocity = behind(middle);
  const double shock = middle * velocity / (middle - kRight);
  const double middle_wave = std::sqrt(kGravity * middle);
  problem.solution = [=](double x, double, double seconds) {
    const double place = x - kDam;
    double h = kLeft;
    double u = 0;
    if (seconds <= 0 ? place > 0 : place > shock * seconds) {
      h = kRight;
    } else if (place > (velocity - middle_wave) * seconds) {
      h = middle;
      u = velocity;
    } else if (place > -left_wave * seconds) {
      const double wave = (2 * left_wave - place / seconds) / 3;
      h = wave * wave / kGravity;
      u = 2 * (left_wave - wave);
    }
    return State{.xi = h - kLeft, .u = h * u};
  };
  start_from_solution(problem);
  return problem;
}

// A wave that stands in a square, so low that it is linear.
Problem standing_wave(const Cells& cells) {
  constexpr double kHeight = 1e-6;
  Problem problem;
  problem.mesh = mesh::rectangle(cells.nx, cells.ny, 1, 1, 1);
  problem.physics = {.gravity = kGravity, .least_depth = kDry};
  problem.forcing = [](double) { return Forcing{}; };
  const double omega = pi * std::sqrt(2 * kGravity);
  problem.seconds = 2 * pi / omega;
  problem.solution = [=](double x, double y, double seconds) {
    const double flow = kHeight * kGravity * pi / omega * std::sin(omega * seconds);
    return State{.xi = kHeight * std::cos(pi * x) * std::cos(pi * y) * std::cos(omega * seconds),
                 .u = flow * std::sin(pi * x) * std::cos(pi * y),
                 .v = flow * std::cos(pi * x) * std::sin(pi * y)};
  };
  start_from_solution(problem);
  return problem;
}

// Lynch and Gray 1978, "Analytic solutions for computer flow model testing": a tide in a channel with linear
// friction, the sea at x = 0.
Problem lynch_gray(const Cells& cells) {
  using Complex = std::complex<double>;
  constexpr double kLength = 1e5;
  constexpr double kDepth = 10;
  constexpr double kFriction = 1e-4;
  constexpr double kHeight = 1e-6;
  Problem problem = channel(cells, kLength, kDepth, {.left = mesh::EdgeKind::kSea});
  problem.physics.linear_friction = kFriction;
  problem.seconds = 44712;
  const double omega = 2 * pi / problem.seconds;
  const Complex beta = std::sqrt(Complex(omega * omega, -omega * kFriction) / (kGravity * kDepth));
  const Complex scale = kHeight / std::cos(beta * kLength);
  problem.solution = [=](double x, double, double seconds) {
    const Complex turn = std::polar(1.0, omega * seconds);
    const Complex slope = scale * beta * std::sin(beta * (kLength - x));
    const Complex flow = -kGravity * kDepth * slope / Complex(kFriction, omega);
    return State{.xi = (scale * std::cos(beta * (kLength - x)) * turn).real(), .u = (flow * turn).real()};
  };
  problem.forcing = [=](double seconds) { return Forcing{.sea_xi = kHeight * std::cos(omega * seconds)}; };
  start_from_solution(problem);
  return problem;
}

namespace {

// Goutal and Maurel 1997, "Proceedings of the 2nd workshop on dam-break wave simulation".
constexpr double kBumpLength = 25;
double bottom(double x) { return std::max(0.0, 0.2 - 0.05 * (x - 10) * (x - 10)); }

/// The depth with this head (h + q^2 / (2 g h^2)) in flow q, slower or faster than its waves.
double depth_of_head(double head, double q, bool is_fast) {
  const double critical = std::cbrt(q * q / kGravity);
  const auto missing = [&](double h) { return h + q * q / (2 * kGravity * h * h) - head; };
  if (missing(critical) >= 0) return critical;
  if (is_fast) return root_between(critical * 1e-3, critical, [&](double h) { return -missing(h); });
  return root_between(critical, head, missing);
}

}  // namespace

Problem bump(const Cells& cells, bool has_shock) {
  constexpr double kStill = 1;  // depth from which xi counts
  const double q = has_shock ? 0.18 : 1.53;
  const double critical = std::cbrt(q * q / kGravity);
  const double head = 1.5 * critical + bottom(10);
  const double out_depth = has_shock ? 0.33 : depth_of_head(head, q, /*is_fast=*/true);
  const double out_head = out_depth + q * q / (2 * kGravity * out_depth * out_depth);
  const auto fast = [=](double x) { return depth_of_head(head - bottom(x), q, true); };
  const auto slow = [=](double x) { return depth_of_head(out_head - bottom(x), q, false); };
  const auto thrust = [=](double h) { return q * q / h + kGravity / 2 * h * h; };
  // Where both have the same momentum.
  const double jump = has_shock
                          ? root_between(10, 12, [&](double x) { return thrust(slow(x)) - thrust(fast(x)); })
                          : 2 * kBumpLength;
  Problem problem =
      channel(cells, kBumpLength, kStill, {.left = mesh::EdgeKind::kRiver, .right = mesh::EdgeKind::kSea});
  for (std::size_t node = 0; node < problem.mesh.node_count(); ++node) {
    problem.mesh.depth[node] = kStill - bottom(problem.mesh.x[node]);
  }
  problem.seconds = 100;
  problem.solution = [=](double x, double, double) {
    double h = x <= 10 ? depth_of_head(head - bottom(x), q, false) : x < jump ? fast(x) : slow(x);
    return State{.xi = h + bottom(x) - kStill, .u = q};
  };
  const double in_depth = depth_of_head(head, q, false);
  problem.forcing = [=](double) {
    return Forcing{.sea_xi = out_depth - kStill, .river_xi = in_depth - kStill, .river_inflow = q};
  };
  start_from_solution(problem);
  return problem;
}

// Water that comes into a channel at rest, with linear friction, until it flows steadily: then q is the same
// everywhere, and (g h - q^2 / h^2) dh/dx = -friction q, whose integral is g h^2 / 2 + q^2 / h.
Problem inflow(const Cells& cells) {
  constexpr double kLength = 1000;
  constexpr double kDepth = 10;
  constexpr double kFlow = 10;  // [m^2/s]
  constexpr double kFriction = 0.05;
  Problem problem =
      channel(cells, kLength, kDepth, {.left = mesh::EdgeKind::kRiver, .right = mesh::EdgeKind::kSea});
  problem.physics.linear_friction = kFriction;
  problem.seconds = 2000;
  problem.has_inflow = true;
  const auto thrust = [](double h) { return kGravity / 2 * h * h + kFlow * kFlow / h; };
  problem.solution = [=](double x, double, double) {
    const double wanted = thrust(kDepth) + kFriction * kFlow * (kLength - x);
    const double h =
        root_between(kDepth / 2, 4 * kDepth, [&](double depth) { return thrust(depth) - wanted; });
    return State{.xi = h - kDepth, .u = kFlow};
  };
  problem.initial = [](double, double) { return State{}; };
  problem.forcing = [](double) { return Forcing{.river_inflow = kFlow}; };
  return problem;
}

}  // namespace fabricmark::shallow_water
