#include "apps/shallow_water/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"

namespace fabricmark::shallow_water {

namespace {

constexpr int kFar = std::numeric_limits<int>::max();

/// Rules of degree 1, 2 and 4 (Strang and Fix 1973): an orbit is a barycentric coordinate that stands alone.
struct Orbit {
  double alone = 0;
  double weight = 0;
};
std::vector<VolumePoint> rule_of(int order) {
  if (order == 0) return {{1.0 / 3, 1.0 / 3, 1}};
  const double root_10 = std::sqrt(10.0);
  const double root = std::sqrt(38 - 44 * std::sqrt(2.0 / 5));
  const double weight_root = std::sqrt(213125 - 53320 * root_10);
  std::vector<Orbit> orbits{{2.0 / 3, 1.0 / 3}};
  if (order == 2) {
    orbits = {{1 - 2 * (8 - root_10 + root) / 18, (620 + weight_root) / 3720},
              {1 - 2 * (8 - root_10 - root) / 18, (620 - weight_root) / 3720}};
  }
  std::vector<VolumePoint> points;
  for (const auto& [alone, weight] : orbits) {
    const double shared = (1 - alone) / 2;
    points.push_back({shared, shared, weight});
    points.push_back({alone, shared, weight});
    points.push_back({shared, alone, weight});
  }
  return points;
}

/// A point of a side of the triangle.
std::array<double, 2> on_side(int side, double t) {
  if (side == 0) return {t, 0};
  return side == 1 ? std::array{1 - t, t} : std::array{0.0, 1 - t};
}

}  // namespace

Reference::Reference(const Problem& problem, const Basis& basis, const std::string& flux, int threads)
    : problem_(problem),
      basis_(basis),
      flux_(flux == "rusanov" ? Flux::kRusanov : (flux == "hll" ? Flux::kHll : Flux::kRoe)),
      threads_(threads),
      edges_(mesh::edges_of(problem.mesh)) {
  for (const VolumePoint& point : rule_of(basis.order())) {
    volume_points_.push_back(point_at(point.r, point.s, point.weight));
  }
  for (int side = 0; side < 3; ++side) {
    for (const LinePoint& point : line_points(basis.order() + 1)) {
      const auto [r, s] = on_side(side, point.t);
      side_points_[static_cast<std::size_t>(side)].push_back(point_at(r, s, point.weight));
    }
  }
  for (std::size_t element = 0; element < problem.mesh.element_count(); ++element) {
    areas_.push_back(area(problem.mesh, element));
  }
  for (const mesh::Edge& edge : edges_) {
    const std::array<double, 2> on = on_side(edge.left_side, 0);
    const std::array<double, 2> to = on_side(edge.left_side, 1);
    const auto [x0, y0] = place_in(problem.mesh, static_cast<std::size_t>(edge.left), on[0], on[1]);
    const auto [x1, y1] = place_in(problem.mesh, static_cast<std::size_t>(edge.left), to[0], to[1]);
    const double length = std::hypot(x1 - x0, y1 - y0);
    sides_.push_back({length, (y1 - y0) / length, (x0 - x1) / length});
  }
}

void Reference::ask_for(const std::vector<std::int32_t>& elements, std::int64_t steps) {
  layers_.assign(problem_.mesh.element_count(), kFar);
  for (const std::int32_t element : elements) layers_[static_cast<std::size_t>(element)] = 0;
  if (elements.size() == layers_.size()) return;
  const auto farthest = static_cast<int>(steps * static_cast<std::int64_t>(stages_of(basis_.order()).size()));
  for (int layer = 1; layer <= farthest; ++layer) {
    for (const mesh::Edge& edge : edges_) {
      if (edge.right < 0) continue;
      int& left = layers_[static_cast<std::size_t>(edge.left)];
      int& right = layers_[static_cast<std::size_t>(edge.right)];
      if (left == layer - 1 && right == kFar) right = layer;
      if (right == layer - 1 && left == kFar) left = layer;
    }
  }
}

Reference::Point Reference::point_at(double r, double s, double weight) const {
  Point point{.r = r, .s = s, .weight = weight};
  for (int mode = 0; mode < basis_.modes(); ++mode) {
    const auto at = static_cast<std::size_t>(mode);
    point.value[at] = basis_.value(mode, r, s);
    const auto [by_r, by_s] = basis_.gradient(mode, r, s);
    point.by_r[at] = by_r;
    point.by_s[at] = by_s;
  }
  return point;
}

Field Reference::advance(Field field, const Steps& steps) const {
  const std::vector<Stage>& stages = stages_of(basis_.order());
  auto layer = static_cast<int>(steps.count * static_cast<std::int64_t>(stages.size()));
  for (std::int64_t step = steps.first; step < steps.first + steps.count; ++step) {
    const Field before = field;
    for (const Stage& stage : stages) {
      const Field change = rate(field, (static_cast<double>(step) + stage.shift) * steps.dt, --layer);
      for (std::size_t i = 0; i < field.values.size(); ++i) {
        field.values[i] =
            stage.keep * before.values[i] + stage.take * (field.values[i] + steps.dt * change.values[i]);
      }
    }
  }
  return field;
}

Reference::Trace Reference::trace(const Field& field, std::size_t element, const Point& point) const {
  const auto& nodes = problem_.mesh.elements[element];
  const auto depth = [&](int node) {
    return problem_.mesh.depth[static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)])];
  };
  std::array<double, kUnknowns> sums{};
  for (int mode = 0; mode < basis_.modes(); ++mode) {
    const double value = point.value[static_cast<std::size_t>(mode)];
    for (int unknown = 0; unknown < kUnknowns; ++unknown) {
      sums[static_cast<std::size_t>(unknown)] += value * field.at(unknown, mode, element);
    }
  }
  const double still = (1 - point.r - point.s) * depth(0) + point.r * depth(1) + point.s * depth(2);
  return {still + sums[0], {sums[0], sums[1], sums[2]}};
}

Reference::EdgeFlux Reference::edge_flux(const Trace& left, const Trace& right, double nx, double ny) const {
  const double g = problem_.physics.gravity;
  const auto physical = [&](const Trace& trace) {
    const double normal = trace.state.u * nx + trace.state.v * ny;
    const double h_b = trace.h - trace.state.xi;
    return EdgeFlux{normal, trace.state.u * normal / trace.h, trace.state.v * normal / trace.h,
                    g * trace.state.xi * (trace.h + h_b) / 2};
  };
  const EdgeFlux fl = physical(left);
  const EdgeFlux fr = physical(right);
  const double ul = fl.water / left.h;
  const double ur = fr.water / right.h;
  const double cl = std::sqrt(g * left.h);
  const double cr = std::sqrt(g * right.h);
  const double dxi = right.state.xi - left.state.xi;
  const double du = right.state.u - left.state.u;
  const double dv = right.state.v - left.state.v;
  const auto mean = [](double a, double b) { return (a + b) / 2; };
  EdgeFlux flux{mean(fl.water, fr.water), mean(fl.momentum_x, fr.momentum_x),
                mean(fl.momentum_y, fr.momentum_y), mean(fl.pressure, fr.pressure)};
  if (flux_ == Flux::kRusanov) {
    const double lambda = std::max(std::abs(ul) + cl, std::abs(ur) + cr);
    flux.water -= lambda * dxi / 2;
    flux.momentum_x -= lambda * du / 2;
    flux.momentum_y -= lambda * dv / 2;
    return flux;
  }
  if (flux_ == Flux::kHll) {
    const double sl = std::min({ul - cl, ur - cr, 0.0});
    const double sr = std::max({ul + cl, ur + cr, 0.0});
    const auto hll = [&](double a, double b, double jump) {
      return (sr * a - sl * b + sl * sr * jump) / (sr - sl);
    };
    return {hll(fl.water, fr.water, dxi), hll(fl.momentum_x, fr.momentum_x, du),
            hll(fl.momentum_y, fr.momentum_y, dv), hll(fl.pressure, fr.pressure, 0)};
  }
  // Roe's mean state; the jump as a sum of three waves.
  const double wl = std::sqrt(left.h);
  const double wr = std::sqrt(right.h);
  const double u = (wl * left.state.u / left.h + wr * right.state.u / right.h) / (wl + wr);
  const double v = (wl * left.state.v / left.h + wr * right.state.v / right.h) / (wl + wr);
  const double c = std::sqrt(g * mean(left.h, right.h));
  const double un = u * nx + v * ny;
  const double ut = -u * ny + v * nx;
  const double dn = du * nx + dv * ny;
  const double dt = -du * ny + dv * nx;
  const double slow = (dxi * (un + c) - dn) / (2 * c);
  const double fast = (dn - dxi * (un - c)) / (2 * c);
  const double shear = dt - ut * dxi;
  const auto speed = [&](double of) { return std::max(std::abs(of), c / 10); };
  const double a = speed(un - c) * slow;
  const double b = speed(un + c) * fast;
  const double normal = a * (un - c) + b * (un + c);
  const double tangential = (a + b) * ut + speed(un) * shear;
  flux.water -= (a + b) / 2;
  flux.momentum_x -= (normal * nx - tangential * ny) / 2;
  flux.momentum_y -= (normal * ny + tangential * nx) / 2;
  return flux;
}

void Reference::add(Field& rate, std::size_t element, const std::array<double, kUnknowns>& amount,
                    const Point& point) const {
  for (int mode = 0; mode < basis_.modes(); ++mode) {
    const double value = point.value[static_cast<std::size_t>(mode)];
    for (int unknown = 0; unknown < kUnknowns; ++unknown) {
      rate.at(unknown, mode, element) += value * amount[static_cast<std::size_t>(unknown)];
    }
  }
}

void Reference::add_edge(const Field& field, std::size_t number, const Forcing& forcing, int layer,
                         const Range& range, Field& rate) const {
  const mesh::Edge& edge = edges_[number];
  const auto left = static_cast<std::size_t>(edge.left);
  const auto right = static_cast<std::size_t>(std::max(edge.right, 0));
  const auto& [length, nx, ny] = sides_[number];
  const double g = problem_.physics.gravity;
  const std::vector<Point>& in_left =
      side_points_[static_cast<std::size_t>(std::max<int>(edge.left_side, 0))];
  // Seen from the other side the points follow each other the other way round.
  const std::vector<Point>& in_right =
      side_points_[static_cast<std::size_t>(std::max<int>(edge.right_side, 0))];
  for (std::size_t place = 0; place < in_left.size(); ++place) {
    const Point& point = in_left[place];
    const Point& beyond = in_right[in_right.size() - 1 - place];
    const Trace one = trace(field, left, point);
    Trace other = one;
    const double normal = one.state.u * nx + one.state.v * ny;
    switch (edge.kind) {
      case mesh::EdgeKind::kInterior:
        other = trace(field, right, beyond);
        break;
      case mesh::EdgeKind::kLand:
        other.state.u -= 2 * normal * nx;
        other.state.v -= 2 * normal * ny;
        break;
      case mesh::EdgeKind::kSea:
        other.state.xi = forcing.sea_xi;
        break;
      case mesh::EdgeKind::kRiver:
        other.state = {problem_.has_inflow ? one.state.xi : forcing.river_xi, -forcing.river_inflow * nx,
                       -forcing.river_inflow * ny};
        break;
    }
    other.h = one.h + other.state.xi - one.state.xi;  // the bottom is the same
    EdgeFlux flux = edge_flux(one, other, nx, ny);
    if (edge.kind == mesh::EdgeKind::kRiver && problem_.has_inflow) flux.water = -forcing.river_inflow;
    const auto share = [&](const Trace& own, std::size_t element, const Point& at, double sign) {
      if (layers_[element] > layer || !range.has(static_cast<std::int32_t>(element))) return;
      const double own_pressure = g * own.state.xi * (2 * own.h - own.state.xi) / 2;
      const double part = -sign * point.weight * length / areas_[element];
      const double push = flux.pressure - own_pressure;
      add(rate, element,
          {part * flux.water, part * (flux.momentum_x + push * nx), part * (flux.momentum_y + push * ny)},
          at);
    };
    share(one, left, point, 1);
    if (edge.right >= 0) share(other, right, beyond, -1);
  }
}

void Reference::add_volume(const Field& field, std::size_t element, Field& rate) const {
  const std::array<double, 2> a = place_in(problem_.mesh, element, 0, 0);
  const std::array<double, 2> b = place_in(problem_.mesh, element, 1, 0);
  const std::array<double, 2> c = place_in(problem_.mesh, element, 0, 1);
  const double x_r = b[0] - a[0];
  const double x_s = c[0] - a[0];
  const double y_r = b[1] - a[1];
  const double y_s = c[1] - a[1];
  const double determinant = x_r * y_s - x_s * y_r;
  const Physics& physics = problem_.physics;
  for (const Point& point : volume_points_) {
    const Trace here = trace(field, element, point);
    const auto& [xi, u, v] = here.state;
    const double tau =
        physics.friction * std::sqrt(u * u + v * v) / (here.h * here.h) + physics.linear_friction;
    std::array<double, 2> slope{};
    for (int mode = 0; mode < basis_.modes(); ++mode) {
      const double by_r = point.by_r[static_cast<std::size_t>(mode)];
      const double by_s = point.by_s[static_cast<std::size_t>(mode)];
      const double by_x = (by_r * y_s - by_s * y_r) / determinant;
      const double by_y = (by_s * x_r - by_r * x_s) / determinant;
      slope[0] += by_x * field.at(0, mode, element);
      slope[1] += by_y * field.at(0, mode, element);
      rate.at(0, mode, element) += point.weight * (by_x * u + by_y * v);
      rate.at(1, mode, element) += point.weight * (by_x * u * u + by_y * u * v) / here.h;
      rate.at(2, mode, element) += point.weight * (by_x * u * v + by_y * v * v) / here.h;
    }
    const double press = physics.gravity * here.h;
    add(rate, element,
        {0, point.weight * (physics.coriolis * v - tau * u - press * slope[0]),
         point.weight * (-physics.coriolis * u - tau * v - press * slope[1])},
        point);
  }
}

Field Reference::rate(const Field& field, double seconds, int layer) const {
  Field change(basis_.modes(), field.elements);
  const Forcing forcing = problem_.forcing(seconds);
  // Each thread has elements of its own, and computes the edges of these: in the order of all edges, so that
  // sums are the same for any number of threads.
  constexpr std::size_t kWorthAThread = 1024;
  parallel_for(field.elements, threads_, kWorthAThread, [&](std::size_t begin, std::size_t end) {
    const Range range{begin, end};
    for (std::size_t number = 0; number < edges_.size(); ++number) {
      const mesh::Edge& edge = edges_[number];
      if (!range.has(edge.left) && !range.has(edge.right)) continue;
      const int right = edge.right < 0 ? kFar : layers_[static_cast<std::size_t>(edge.right)];
      if (std::min(layers_[static_cast<std::size_t>(edge.left)], right) > layer) continue;
      add_edge(field, number, forcing, layer, range, change);
    }
    for (std::size_t element = begin; element < end; ++element) {
      if (layers_[element] <= layer) add_volume(field, element, change);
    }
  });
  return change;
}

}  // namespace fabricmark::shallow_water
