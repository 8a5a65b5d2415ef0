#pragma once

#include "apps/shallow_water/local_mesh.hpp"
#include "apps/shallow_water/problem.hpp"
#include "runtime/context.hpp"

namespace fabricmark::shallow_water {

/// Volume of the water above still water [m^3] in own elements, and of all water.
double volume(const LocalMesh& local, const Field& field);
double water(const LocalMesh& local, const Field& field);

/// Relative errors of a field against the known solution, over all ranks: of elevation and depth, as
/// integrals of their absolute value (L1) and of their square (L2), and of the means of elements at their
/// centres. Collective.
struct Errors {
  double elevation_l2 = 0;
  double depth_l1 = 0;
  double depth_of_means_l1 = 0;
};
Errors errors_of(runtime::Communicator& ranks, const Problem& problem, const Basis& basis,
                 const LocalMesh& local, const Field& field, double seconds);

}  // namespace fabricmark::shallow_water
