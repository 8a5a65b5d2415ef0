#pragma once

#include <array>
#include <cstddef>

namespace fabricmark::lbm {

/// Populations of a cell, in the order of kernels/lbm/cell.h, less those at rest with a density of 1.
inline constexpr std::size_t kPopulations = 9;
using Populations = std::array<double, kPopulations>;

/// What a cell's fluid is and does, in units of cells and steps.
struct Flow {
  double density = 1;
  double u = 0;  ///< to the east
  double v = 0;  ///< to the north
};

/// How speeds change from cell to cell.
struct Gradient {
  double ux = 0, uy = 0, vx = 0, vy = 0;
};

/// In equilibrium.
Populations equilibrium(const Flow& flow);
/// After relaxing, of a flow without sources that changes slowly: equilibrium, and of what is not in it to
/// first order (Kruger et al. 2017, eq. 5.34) what the relaxation leaves.
Populations relaxed(const Flow& flow, const Gradient& gradient, double omega);

/// What the populations of a cell after its relaxation come to; forces add half of theirs.
Flow flow_of(const double* populations, std::size_t stride);

}  // namespace fabricmark::lbm
