#pragma once

#include <string>

#include "base/digest.hpp"
#include "mesh/mesh.hpp"
#include "runtime/parameters.hpp"

namespace fabricmark::shallow_water {

/// What a run has to have in common with the one that it goes on from.
inline std::string key_of(const runtime::Parameters& parameters, const mesh::Mesh& mesh) {
  std::string key;
  for (const char* const name : {"case", "order", "data_type", "flux", "friction", "linear_friction",
                                 "coriolis", "tides", "ramp_hours", "river_discharge"}) {
    key += std::string(name) + "=" + runtime::to_text(parameters.value(name)) + "\n";
  }
  const auto add = [&](const auto& values) {
    key += content_digest({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])});
  };
  add(mesh.x);
  add(mesh.y);
  add(mesh.depth);
  add(mesh.elements);
  return key;
}

}  // namespace fabricmark::shallow_water
