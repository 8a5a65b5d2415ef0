#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "mesh/mesh.hpp"
#include "mesh/projection.hpp"

namespace fabricmark::mesh {

/// What lies at the sides of a rectangle.
struct Sides {
  EdgeKind left = EdgeKind::kLand;    ///< x = 0
  EdgeKind right = EdgeKind::kLand;   ///< x = lx
  EdgeKind bottom = EdgeKind::kLand;  ///< y = 0
  EdgeKind top = EdgeKind::kLand;     ///< y = ly
};

/// nx x ny cells of lx x ly metres in all, each cut into two triangles along the diagonal that starts lower
/// left. `depth` everywhere [m]. Throws Error (bad use) for what is not positive or does not fit 32 bits.
Mesh rectangle(std::int32_t nx, std::int32_t ny, double lx, double ly, double depth, const Sides& sides = {});

/// A made-up bay of exactly so many triangles: a mouth of 96 km, where the sea is, 48 km long, land
/// around the rest; 11 m deep in the middle of the mouth, 2 m at the shore. Triangles are smaller towards the
/// head. The same for the same number on every machine but for the last bits of its coordinates. Throws Error
/// (bad use) for fewer than 2.
Mesh bay(std::int64_t elements);

/// What "bay:N" or the path of a fort.14 file stands for.
Mesh named_mesh(const std::string& name, Projection projection = Projection::kAuto);

}  // namespace fabricmark::mesh
