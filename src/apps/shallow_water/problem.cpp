#include "apps/shallow_water/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "apps/shallow_water/text.hpp"
#include "base/error.hpp"
#include "mesh/shapes.hpp"

namespace fabricmark::shallow_water {

namespace {

constexpr std::string_view kRectangle = "rectangle:";

/// What stands behind "rectangle:", as numbers.
std::optional<std::vector<double>> rectangle_of(const std::string& name, std::string_view separators) {
  if (!name.starts_with(kRectangle)) return std::nullopt;
  return numbers_between(name.substr(kRectangle.size()), separators);
}

/// A whole number of cells; 0 for what is none.
std::int32_t cells_in(double number) {
  constexpr double kMost = 1e6;
  return number >= 1 && number <= kMost && number == std::floor(number) ? static_cast<std::int32_t>(number)
                                                                        : 0;
}

/// The cells of "rectangle:NXxNY".
Cells cells_of(const std::string& name, const std::string& test_case) {
  const std::vector<double> found = rectangle_of(name, "x").value_or(std::vector<double>{0, 0});
  const Cells cells{cells_in(found[0]), cells_in(found[1])};
  if (cells.nx > 0 && cells.ny > 0) return cells;
  throw bad_use(fmt::format("the case {} is on a rectangle of its own, and not on '{}'", test_case, name),
                "say how many cells it has, as in --mesh rectangle:100x1");
}

/// "rectangle:NXxNY:LXxLY", 10 m deep, or what the library of meshes knows.
mesh::Mesh mesh_of(const std::string& name, mesh::Projection projection) {
  if (!name.starts_with(kRectangle)) return mesh::named_mesh(name, projection);
  if (projection == mesh::Projection::kCpp)
    throw bad_use("--projection cpp, but '" + name + "' is in metres", "leave it out");
  const std::vector<double> found = rectangle_of(name, "x:x").value_or(std::vector<double>{0, 0, 0, 0});
  const Cells cells{cells_in(found[0]), cells_in(found[1])};
  if (cells.nx == 0 || cells.ny == 0) {
    throw bad_use(fmt::format("--mesh '{}' is no rectangle", name),
                  "give cells and lengths in metres, as in rectangle:100x50:10000x5000");
  }
  constexpr double kDepth = 10;
  return mesh::rectangle(cells.nx, cells.ny, found[2], found[3], kDepth);
}

void close(mesh::Mesh& mesh) {
  for (mesh::BoundaryEdge& edge : mesh.boundary) edge.kind = mesh::EdgeKind::kLand;
}

struct Box {
  double x0, x1, y0, y1;
};
Box box_of(const mesh::Mesh& mesh) {
  const auto [x0, x1] = std::ranges::minmax(mesh.x);
  const auto [y0, y1] = std::ranges::minmax(mesh.y);
  return {x0, x1, y0, y1};
}

Physics tidal_physics(const runtime::Parameters& parameters) {
  Physics physics;
  physics.friction = parameters.number("friction");
  physics.linear_friction = parameters.number("linear_friction");
  physics.coriolis = parameters.number("coriolis");
  physics.least_depth = parameters.number("minimum_depth");
  return physics;
}

mesh::Tides tides_of(const runtime::Parameters& parameters) {
  const std::string& name = parameters.text("tides");
  return name == "abaco" ? mesh::abaco_tides() : mesh::read_tides(name);
}

double grown(double seconds, double ramp_seconds) {
  return ramp_seconds > 0 ? std::tanh(2 * seconds / ramp_seconds) : 1;
}

/// Of rivers [m^2/s]; 0 where none is given.
double inflow_of(const runtime::Parameters& parameters, const mesh::Mesh& mesh) {
  const double discharge = parameters.number("river_discharge");
  if (discharge == 0) return 0;
  const double length = length_of(mesh, mesh::EdgeKind::kRiver);
  if (length > 0) return discharge / length;
  throw bad_use(fmt::format("--river-discharge {}, but the mesh '{}' has no edge of a river", discharge,
                            parameters.text("mesh")),
                "use a mesh that has one (fort.14: boundaries of type 2, 12, 22, 32 or 52), or leave it out");
}

Problem tidal_problem(const runtime::Parameters& parameters) {
  Problem problem;
  problem.mesh = mesh_of(parameters.text("mesh"), mesh::projection_of(parameters.text("projection")));
  problem.physics = tidal_physics(parameters);
  problem.initial = [](double, double) { return State{}; };
  const double ramp = parameters.number("ramp_hours") * kSecondsPerHour;
  const double inflow = inflow_of(parameters, problem.mesh);
  problem.has_inflow = inflow > 0;
  problem.forcing = [ramp, inflow, tides = tides_of(parameters)](double seconds) {
    const double xi = tidal_elevation(tides, seconds, ramp);
    return Forcing{.sea_xi = xi, .river_xi = xi, .river_inflow = inflow * grown(seconds, ramp)};
  };
  return problem;
}

Problem closed_problem(const runtime::Parameters& parameters, bool is_still) {
  Problem problem = tidal_problem(parameters);
  close(problem.mesh);
  problem.is_still = is_still;
  problem.forcing = [](double) { return Forcing{}; };
  if (is_still) {
    constexpr double kLevel = 0.3;
    problem.initial = [](double, double) { return State{.xi = kLevel}; };
    return problem;
  }
  const Box box = box_of(problem.mesh);
  problem.initial = [box](double x, double y) {
    constexpr double kHeight = 0.5;
    constexpr double kWidth = 0.1;  // of the box
    const double across = (x - (box.x0 + box.x1) / 2) / (kWidth * (box.x1 - box.x0));
    const double along = (y - (box.y0 + box.y1) / 2) / (kWidth * (box.y1 - box.y0));
    return State{.xi = kHeight * std::exp(-(across * across + along * along))};
  };
  return problem;
}

}  // namespace

double tidal_elevation(const mesh::Tides& tides, double seconds, double ramp_seconds) {
  double xi = 0;
  for (const mesh::Constituent& tide : tides.constituents) {
    xi += tide.amplitude_m * std::cos(tide.frequency_rad_per_s * seconds - tide.phase_rad);
  }
  return xi * grown(seconds, ramp_seconds);
}

Problem make_problem(const runtime::Parameters& parameters) {
  const std::string& name = parameters.text("case");
  const std::string& mesh = parameters.text("mesh");
  if (name == "tide") return tidal_problem(parameters);
  if (parameters.number("river_discharge") != 0) {
    throw bad_use(fmt::format("--river-discharge with the case {}, whose open edges are its own", name),
                  "leave one of them out");
  }
  if (name == "lake") return closed_problem(parameters, /*is_still=*/true);
  if (name == "mass") return closed_problem(parameters, /*is_still=*/false);
  const Cells cells = cells_of(mesh, name);
  if (name == "stoker") return stoker(cells);
  if (name == "standing_wave") return standing_wave(cells);
  if (name == "lynch_gray") return lynch_gray(cells);
  if (name == "inflow") return inflow(cells);
  return bump(cells, name == "bump_shock");
}

std::array<double, 2> place_in(const mesh::Mesh& mesh, std::size_t element, double r, double s) {
  const auto& [a, b, c] = mesh.elements[element];
  const auto at = [&](const std::vector<double>& of) {
    const auto value = [&](std::int32_t node) { return of[static_cast<std::size_t>(node)]; };
    return value(a) + r * (value(b) - value(a)) + s * (value(c) - value(a));
  };
  return {at(mesh.x), at(mesh.y)};
}

double length_of(const mesh::Mesh& mesh, mesh::EdgeKind kind) {
  double sum = 0;
  for (const mesh::BoundaryEdge& edge : mesh.boundary) {
    const auto [a, b] = edge.nodes;
    const auto at = [](std::int32_t node) { return static_cast<std::size_t>(node); };
    if (edge.kind == kind) sum += std::hypot(mesh.x[at(b)] - mesh.x[at(a)], mesh.y[at(b)] - mesh.y[at(a)]);
  }
  return sum;
}

double area(const mesh::Mesh& mesh, std::size_t element) {
  const std::array<double, 2> a = place_in(mesh, element, 0, 0);
  const std::array<double, 2> b = place_in(mesh, element, 1, 0);
  const std::array<double, 2> c = place_in(mesh, element, 0, 1);
  return ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2;
}

Field project(const Problem& problem, const Basis& basis, const std::vector<std::int32_t>& elements) {
  Field field(basis.modes(), elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto element = static_cast<std::size_t>(elements[i]);
    for (int unknown = 0; unknown < kUnknowns; ++unknown) {
      const std::vector<double> modes = basis.project([&](double r, double s) {
        const auto [x, y] = place_in(problem.mesh, element, r, s);
        const State state = problem.initial(x, y);
        return unknown == 0 ? state.xi : unknown == 1 ? state.u : state.v;
      });
      for (int mode = 0; mode < basis.modes(); ++mode) {
        field.at(unknown, mode, i) = modes[static_cast<std::size_t>(mode)];
      }
    }
  }
  return field;
}

}  // namespace fabricmark::shallow_water
