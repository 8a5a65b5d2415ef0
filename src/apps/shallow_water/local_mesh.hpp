#pragma once

#include <cstdint>
#include <vector>

#include "mesh/mesh.hpp"
#include "mesh/partition.hpp"

namespace fabricmark::shallow_water {

/// The part of a mesh that a rank computes, as kernels take it. Places are those of elements in its arrays:
/// own ones first, of which those come first that need nothing from other ranks; then, from `padded` on,
/// those of other ranks.
struct LocalMesh {
  /// Elements that another rank needs or sends, in the order of the message.
  struct Neighbour {
    int rank = 0;
    std::vector<std::int32_t> send;     ///< places of own elements
    std::vector<std::int32_t> receive;  ///< places behind the own ones
  };
  static constexpr int kGeometry = 12;  ///< numbers of an element: depth, nx, ny, ratio of each side
  static constexpr int kSides = 3;

  std::vector<std::int32_t> elements;  ///< numbers in the mesh, by place
  std::size_t core = 0;                ///< how many of them need nothing from other ranks
  std::size_t padded = 0;              ///< their number rounded up; what is between is land at rest
  std::size_t received = 0;
  std::size_t stride = 0;        ///< from one array of the state to the next
  std::vector<double> geometry;  ///< [number * padded + place]
  std::vector<std::int32_t>
      codes;                  ///< [side * padded + place]: 4 * neighbour's place + its side, or the kind
  std::vector<double> areas;  ///< of own elements [m^2]
  std::vector<Neighbour> neighbours;

  [[nodiscard]] std::size_t own() const { return elements.size(); }
};

/// Codes of edges without a neighbour, as in kernels/shallow_water/flux.h.
inline constexpr std::int32_t kLandCode = -1;
inline constexpr std::int32_t kSeaCode = -2;
inline constexpr std::int32_t kRiverCode = -3;
inline constexpr std::int32_t kInflowCode = -4;

/// The part of rank `rank`; own elements are rounded up to a multiple of `multiple`.
LocalMesh local_mesh(const mesh::Mesh& mesh, const std::vector<std::int32_t>& part_of, int rank,
                     std::size_t multiple);

}  // namespace fabricmark::shallow_water
