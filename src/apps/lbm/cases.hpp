#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/lbm/populations.hpp"
#include "runtime/parameters.hpp"
#include "stencil/problem.hpp"

namespace fabricmark::lbm {

/// Kinds of cells, as in kernels/lbm/cell.h.
enum Kind : std::uint8_t { kFluid, kWall, kMovingWall, kInflow, kOutflow, kNothing };

/// Its middle, in cells from the corner of the grid.
struct Cylinder {
  double x = 0;
  double y = 0;
  double radius = 0;
};

/// A case, in units of cells and steps.
struct Case {
  stencil::Problem problem;
  double omega = 1;
  double speed = 0.1;
  double force_x = 0;
  bool is_closed = true;  ///< nothing flows in or out
  std::optional<Cylinder> cylinder{};
  /// What the fluid does after so many steps; empty where nothing says.
  std::function<Flow(const stencil::Place& place, double step)> solution{};

  [[nodiscard]] double viscosity() const { return (1 / omega - 0.5) / 3; }
};

/// As the parameters say. Throws Error (bad use) for an omega that no fluid has.
Case make_case(const runtime::Parameters& parameters);

}  // namespace fabricmark::lbm
