#include "apps/lbm/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/error.hpp"

namespace fabricmark::lbm {

namespace {

using stencil::Place;

/// The middle of a cell.
double middle(std::size_t number) { return static_cast<double>(number) + 0.5; }

void start_with(Case& of, const std::function<Populations(const Place&)>& populations) {
  of.problem.start = [populations](const Place& place, std::span<double> numbers) {
    std::ranges::copy(populations(place), numbers.begin());
  };
}
void start_at_rest(Case& of) {
  start_with(of, [](const Place&) { return equilibrium({}); });
}

/// A box whose uppermost row is a lid that moves (Ghia, Ghia and Shin 1982).
void cavity(Case& of) {
  const std::size_t lid = of.problem.rows - 1;
  of.problem.kind = [lid](const Place& place) { return place.row == lid ? kMovingWall : kFluid; };
  start_at_rest(of);
}

/// Vortices in a periodic square, which decay.
void taylor_green(Case& of) {
  of.problem.is_periodic_across = of.problem.is_periodic_along = true;
  const double kx = 2 * std::numbers::pi / static_cast<double>(of.problem.columns);
  const double ky = 2 * std::numbers::pi / static_cast<double>(of.problem.rows);
  const double decay = of.viscosity() * (kx * kx + ky * ky);
  const double speed = of.speed;
  of.solution = [=](const Place& place, double step) {
    const double x = kx * middle(place.column);
    const double y = ky * middle(place.row);
    const double now = speed * std::exp(-decay * step);
    const double pressure = -now * now / 4 * (ky / kx * std::cos(2 * x) + kx / ky * std::cos(2 * y));
    return Flow{.density = 1 + 3 * pressure,
                .u = -now * std::sqrt(ky / kx) * std::cos(x) * std::sin(y),
                .v = now * std::sqrt(kx / ky) * std::sin(x) * std::cos(y)};
  };
  const auto solution = of.solution;
  const double omega = of.omega;
  start_with(of, [=](const Place& place) {
    const double x = kx * middle(place.column);
    const double y = ky * middle(place.row);
    const double across = speed * std::sqrt(ky / kx);
    const double along = speed * std::sqrt(kx / ky);
    const Gradient gradient{.ux = across * kx * std::sin(x) * std::sin(y),
                            .uy = -across * ky * std::cos(x) * std::cos(y),
                            .vx = along * kx * std::cos(x) * std::cos(y),
                            .vy = -along * ky * std::sin(x) * std::sin(y)};
    return relaxed(solution(place, 0), gradient, omega);
  });
}

/// A force drives fluid between two walls.
void poiseuille(Case& of) {
  of.problem.is_periodic_across = true;
  const auto height = static_cast<double>(of.problem.rows);
  const double speed = of.speed;
  of.force_x = 8 * of.viscosity() * speed / (height * height);
  of.solution = [=](const Place& place, double) {
    const double y = middle(place.row);
    return Flow{.u = 4 * speed * y * (height - y) / (height * height)};
  };
  const auto solution = of.solution;
  start_with(of, [solution](const Place& place) { return equilibrium(solution(place, 0)); });
}

/// The uppermost row is a wall that pulls the fluid along.
void couette(Case& of) {
  of.problem.is_periodic_across = true;
  const std::size_t top = of.problem.rows - 1;
  of.problem.kind = [top](const Place& place) { return place.row == top ? kMovingWall : kFluid; };
  const double speed = of.speed;
  of.solution = [=](const Place& place, double) {
    return Flow{.u = speed * middle(place.row) / static_cast<double>(top)};
  };
  const auto solution = of.solution;
  start_with(of, [solution](const Place& place) { return equilibrium(solution(place, 0)); });
}

/// Flow round a cylinder between walls, a tenth as thick as they are apart.
void cylinder(Case& of) {
  of.is_closed = false;
  const std::size_t last = of.problem.columns - 1;
  const auto rows = static_cast<double>(of.problem.rows);
  // Not in the middle, so that vortices begin.
  const Cylinder round{static_cast<double>(of.problem.columns) / 6, rows / 2 + 0.5, rows / 20};
  of.cylinder = round;
  of.problem.kind = [=](const Place& place) {
    if (place.column == 0) return kInflow;
    if (place.column == last) return kOutflow;
    const bool is_inside =
        std::hypot(middle(place.column) - round.x, middle(place.row) - round.y) < round.radius;
    return is_inside ? kWall : kFluid;
  };
  const double speed = of.speed;
  start_with(of, [speed](const Place&) { return equilibrium({.u = speed}); });
}

/// A denser spot in a closed box, whose sound runs to and fro.
void box(Case& of) {
  const auto columns = static_cast<double>(of.problem.columns);
  const auto rows = static_cast<double>(of.problem.rows);
  start_with(of, [=](const Place& place) {
    const double x = (middle(place.column) - columns / 3) / (columns / 8);
    const double y = (middle(place.row) - rows / 3) / (rows / 8);
    constexpr double kDenser = 0.01;
    return equilibrium({.density = 1 + kDenser * std::exp(-x * x - y * y)});
  });
}

/// What Reynolds numbers are of [cells].
double length_of(const std::string& name, const stencil::Problem& problem) {
  if (name == "cylinder") return static_cast<double>(problem.rows) / 10;
  if (name == "poiseuille" || name == "couette") return static_cast<double>(problem.rows);
  return static_cast<double>(problem.columns);
}

double omega_of(const runtime::Parameters& parameters, const std::string& name,
                const stencil::Problem& problem) {
  const double given = parameters.number("omega");
  if (given > 0) return given;
  const double reynolds = parameters.number("reynolds");
  const double omega = 1 / (3 * parameters.number("speed") * length_of(name, problem) / reynolds + 0.5);
  constexpr double kMost = 1.99999;
  if (omega <= kMost) return omega;
  throw bad_use(fmt::format("--reynolds {} on this grid needs an omega of {:.7g}, at which no run is stable",
                            reynolds, omega),
                "use a finer grid, more --speed or a smaller Reynolds number");
}

}  // namespace

Case make_case(const runtime::Parameters& parameters) {
  const std::string& name = parameters.text("case");
  Case made;
  made.problem = stencil::problem_of(parameters, {"rest", "east", "north", "west", "south", "north-east",
                                                  "north-west", "south-west", "south-east"});
  made.problem.edge_kind = kWall;
  made.speed = parameters.number("speed");
  made.omega = omega_of(parameters, name, made.problem);
  const std::map<std::string, void (*)(Case&)> cases{
      {"cavity", cavity},   {"taylor_green", taylor_green}, {"poiseuille", poiseuille},
      {"couette", couette}, {"cylinder", cylinder},         {"box", box}};
  const bool has_moving_row = name == "cavity" || name == "couette";
  if (has_moving_row && made.problem.rows < 2) {
    throw bad_use(fmt::format("--case {} has a row that moves, and --rows 1", name), "use more --rows");
  }
  cases.at(name)(made);
  const double fastest = parameters.number("most_speed");
  made.problem.constants = {made.omega, made.force_x,     0, has_moving_row ? made.speed : 0,
                            0,          fastest * fastest};
  return made;
}

}  // namespace fabricmark::lbm
