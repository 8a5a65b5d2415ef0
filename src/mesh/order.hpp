#pragma once

#include <cstdint>
#include <vector>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// Numbers of all elements along a Hilbert curve through their centres: elements that are near each other get
/// numbers near each other, so that caches hold the neighbours of most (Hilbert, 1891).
std::vector<std::int32_t> curve_order(const Mesh& mesh);

/// The mesh with its elements in that order, and its nodes in the order in which elements name them.
Mesh ordered(const Mesh& mesh);

}  // namespace fabricmark::mesh
