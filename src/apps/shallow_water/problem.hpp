#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/shallow_water/field.hpp"
#include "mesh/mesh.hpp"
#include "mesh/tides.hpp"
#include "runtime/parameters.hpp"

namespace fabricmark::shallow_water {

inline constexpr double kSecondsPerHour = 3600;

/// Constants of the equations; the same everywhere.
struct Physics {
  double gravity = 9.81;
  double friction = 0;         ///< C_f of quadratic bottom friction
  double linear_friction = 0;  ///< [1/s], added to it
  double coriolis = 0;         ///< f_c [1/s]
  double least_depth = 0;      ///< of water, below which a run stops [m]
};

/// Elevation [m] and depth-integrated velocities [m^2/s] at a place.
struct State {
  double xi = 0;
  double u = 0;
  double v = 0;
};

/// What lies beyond the open edges at a time: elevations [m] and inflow of rivers [m^2/s].
struct Forcing {
  double sea_xi = 0;
  double river_xi = 0;
  double river_inflow = 0;
};

/// What is computed: a mesh, constants, the state at the start, and what is known of the end.
struct Problem {
  mesh::Mesh mesh;
  Physics physics;
  std::function<State(double x, double y)> initial;
  std::function<Forcing(double seconds)> forcing;
  double seconds = 0;  ///< of the case, where nothing else says
  /// The solution, where it is known.
  std::function<State(double x, double y, double seconds)> solution{};
  bool is_still = false;  ///< nothing may move
  /// Rivers have the inflow that the forcing says, exactly, and the elevation that is there.
  bool has_inflow = false;
};

/// Throws Error (bad use) for a mesh that cannot be read or is not for the case.
Problem make_problem(const runtime::Parameters& parameters);

/// The cases with known solutions, on the rectangle of their own lengths with so many cells.
struct Cells {
  int nx = 0;
  int ny = 0;
};
Problem stoker(const Cells& cells);
Problem standing_wave(const Cells& cells);
Problem lynch_gray(const Cells& cells);
Problem bump(const Cells& cells, bool has_shock);
Problem inflow(const Cells& cells);

/// Of edges of a kind [m].
double length_of(const mesh::Mesh& mesh, mesh::EdgeKind kind);

/// Elevation of the sea [m]: the tides, which grow from rest by a ramp.
double tidal_elevation(const mesh::Tides& tides, double seconds, double ramp_seconds);

/// Coordinates of point (r, s) of an element.
std::array<double, 2> place_in(const mesh::Mesh& mesh, std::size_t element, double r, double s);
/// Twice its area is positive: nodes go counterclockwise.
double area(const mesh::Mesh& mesh, std::size_t element);
/// The initial state in the basis, of these elements.
Field project(const Problem& problem, const Basis& basis, const std::vector<std::int32_t>& elements);

}  // namespace fabricmark::shallow_water
