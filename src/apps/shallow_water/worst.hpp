#pragma once

#include <cstdint>
#include <string>

#include "apps/shallow_water/field.hpp"
#include "apps/shallow_water/local_mesh.hpp"
#include "apps/shallow_water/problem.hpp"

namespace fabricmark::shallow_water {

/// The element of a field in which a run is nearest to its end.
struct Worst {
  std::int32_t element = 0;  ///< number in the mesh
  bool is_number = true;
  double depth = 0;    ///< the least of water [m]
  double seconds = 0;  ///< the longest step that is stable

  /// What is wrong with it, as in "0.12 m of water".
  [[nodiscard]] std::string words(const Problem& problem, double dt) const;
  [[nodiscard]] std::string remedy(const Problem& problem) const;
};

/// First what is no number, then what is not deep enough, then what is fastest.
Worst worst_of(const Problem& problem, const Basis& basis, const LocalMesh& local, const Field& field);
/// Of one own element.
Worst state_of(const Problem& problem, const Basis& basis, const LocalMesh& local, const Field& field,
               std::size_t place);

}  // namespace fabricmark::shallow_water
