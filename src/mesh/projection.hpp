#pragma once

#include <string>

#include "mesh/check.hpp"
#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// What the coordinates of a file are.
enum class Projection {
  kAuto,    ///< metres; refused where they look like degrees
  kMetres,  ///< metres, whatever they look like
  kCpp,     ///< degrees of longitude and latitude, to be projected
};

/// "auto", "none" or "cpp". Throws Error (bad use) for another word.
Projection projection_of(const std::string& name);

/// Puts longitude and latitude in degrees onto a plane, in metres from the middle of the mesh, by the Carte
/// Parallelogrammatique Projection as ADCIRC does (ICS = 2): x = R (lambda - lambda_0) cos phi_0, y = R phi.
/// Throws Error (bad use) that names a node that has no such coordinates.
void project(Mesh& mesh, const Origin& origin);

/// Throws Error (bad use) where coordinates look like degrees: all could be longitude and latitude, the depth
/// is more than the whole mesh is wide, which no shallow water is, and either it is far more than an edge is
/// long, or the mesh does not begin at 0, as tanks of a few metres do.
void refuse_degrees(const Mesh& mesh, const Origin& origin);

}  // namespace fabricmark::mesh
