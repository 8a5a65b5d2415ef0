#pragma once

#include <cstddef>
#include <vector>

#include "apps/shallow_water/basis.hpp"

namespace fabricmark::shallow_water {

/// The unknowns of so many elements, on the host in double precision: surface elevation xi [m] and
/// depth-integrated velocities U and V [m^2/s], each as the coefficients of the basis.
struct Field {
  int modes = 1;
  std::size_t elements = 0;
  std::vector<double> values;  ///< [(unknown * modes + mode) * elements + element]

  Field() = default;
  Field(int mode_count, std::size_t element_count)
      : modes(mode_count),
        elements(element_count),
        values(static_cast<std::size_t>(kUnknowns * mode_count) * element_count) {}
  /// Of an element.
  [[nodiscard]] std::size_t numbers() const {
    return std::size_t{kUnknowns} * static_cast<std::size_t>(modes);
  }
  [[nodiscard]] std::size_t place(int unknown, int mode, std::size_t element) const {
    return static_cast<std::size_t>(unknown * modes + mode) * elements + element;
  }
  double& at(int unknown, int mode, std::size_t element) { return values[place(unknown, mode, element)]; }
  [[nodiscard]] double at(int unknown, int mode, std::size_t element) const {
    return values[place(unknown, mode, element)];
  }
};

}  // namespace fabricmark::shallow_water
