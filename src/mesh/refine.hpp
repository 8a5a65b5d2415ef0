#pragma once

#include <cstdint>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// Each element cut into k^2 like itself, each edge into k. Depths and kinds of edges stay what they are on
/// the coarse mesh. Throws Error (bad use) for k < 1 or too many elements.
Mesh subdivided(const Mesh& mesh, int k);

/// Elements halved across their longest edge, those first that were halved least often, until there are
/// exactly so many: halving goes on over longer edges to one that is the longest of both its elements, so
/// that no angle becomes smaller than half of the smallest one (Rivara, "New longest-edge algorithms for the
/// refinement and/or improvement of unstructured triangulations", 1997). Twice the number of elements is a
/// bisection. Throws Error (bad use) for fewer than there are.
Mesh bisected(const Mesh& mesh, std::int64_t elements);

}  // namespace fabricmark::mesh
