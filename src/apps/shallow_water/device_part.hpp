#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/shallow_water/local_mesh.hpp"
#include "mesh/partition.hpp"
#include "runtime/context.hpp"

namespace fabricmark::shallow_water {

/// What a device has of a mesh, as kernels/shallow_water/dataflow.cpp takes it. Where only time is asked for
/// there are the numbers alone, and lists are empty.
struct DevicePart {
  /// A message to and one from another device in each step, in elements.
  struct Neighbour {
    int rank = 0;
    std::size_t sent = 0;
    std::size_t received = 0;
  };
  /// An edge at land, sea or a river, and the place of its element among those that the edge kernel knows.
  struct OuterEdge {
    std::size_t slot = 0;
    std::int32_t code = 0;
    double nx = 0;
    double ny = 0;
  };

  std::size_t core = 0;   ///< E_core of eq. 5.2: elements without a neighbour on another device
  std::size_t own = 0;    ///< elements
  std::size_t outer = 0;  ///< D_ext: edges at land, sea and rivers
  /// In the order of their messages: the next higher rank first, so that no device is sent to by all at once.
  std::vector<Neighbour> neighbours;

  std::vector<std::int32_t> projected;     ///< places of elements that the edge kernel hears of, ascending
  std::vector<OuterEdge> outer_edges;      ///< by element and side
  std::vector<std::size_t> leaving_slots;  ///< of elements of all messages to others
  std::vector<std::int32_t> halo_places;  ///< [3 * border element + side]: among what comes; below 0: nothing

  [[nodiscard]] std::size_t border() const { return own - core; }  ///< S = E_send + E_recv
  [[nodiscard]] std::size_t leaving() const;
  [[nodiscard]] std::size_t arriving() const;
};

/// Of a rank's part of a mesh, whose arrays have no padding.
DevicePart device_part(const LocalMesh& local, int devices, int rank);
/// The numbers alone, of all parts of a mesh.
std::vector<DevicePart> device_parts(const mesh::Mesh& mesh, const std::vector<std::int32_t>& part_of,
                                     int parts);

/// Parts that are all alike and made of nothing, as in a row of Meyer 2024, Tables A.1 and A.2: of each
/// E_core, S and D_ext, and N_max other devices, or one less for the last of an odd number.
struct AlikeParts {
  std::size_t core = 0;
  std::size_t border = 0;
  std::size_t outer = 0;
  int neighbours = 0;
};
/// From "parts:CORE,BORDER,OUTER,NEIGHBOURS"; none for another text. Throws Error (bad use) for what is no
/// such, and for more neighbours than other devices.
std::optional<AlikeParts> alike_parts(const std::string& mesh, int devices);
DevicePart device_part(const AlikeParts& alike, int devices, int rank);

/// Throws Error (bad use) where a partition is larger than the local memory of a device, on any rank; names
/// the largest (Meyer 2024, section 5.2.3). Collective.
void require_fit(const runtime::Context& context, const DevicePart& part);

}  // namespace fabricmark::shallow_water
