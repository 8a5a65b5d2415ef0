#pragma once

#include <array>
#include <cstddef>

#include "apps/tsunami/shape.hpp"

namespace fabricmark::tsunami {

/// Of the Earth: its mean radius [m], which `fabricmark bathymetry` has, too, and how fast it turns [1/s].
inline constexpr double kEarthRadius = 6.371e6;
inline constexpr double kEarthTurn = 7.292115e-5;

/// Where the cells of a grid lie on the Earth. Angles in radians.
struct Sphere {
  double west = 0;  ///< of the outer edges
  double south = 0;
  double step_x = 0;  ///< from a column to the next
  double step_y = 0;  ///< from a row to the next
  double turn = 0;    ///< how fast the Earth turns [1/s]

  /// Of the middle of a cell, from the western edge on.
  [[nodiscard]] double longitude(std::size_t column) const { return middle(column) * step_x; }
  [[nodiscard]] double latitude(std::size_t row) const { return south + middle(row) * step_y; }
  /// From a column to the next [m].
  [[nodiscard]] double width(std::size_t row) const;
  [[nodiscard]] double height() const { return kEarthRadius * step_y; }
};

/// Of so many cells between these edges [degrees: west, east, south, north]. Throws Error (bad use) where
/// they go beyond a pole or round more than once.
Sphere sphere_of(const std::array<double, 4>& degrees, std::size_t columns, std::size_t rows, double turn);

/// On an Earth that does not turn: a standing wave of one zonal wavenumber, which has one length in the
/// columns. cos(m longitude) cos(latitude)^m is a spherical harmonic, of which linear waves make
/// cos(sqrt(g d m (m + 1)) t / radius).
class Harmonic {
 public:
  Harmonic(const Sphere& sphere, const Scale& scale);
  [[nodiscard]] double elevation(const stencil::Place& place, double seconds) const;
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] double period() const;  ///< [s]

 private:
  Sphere sphere_;
  Scale scale_;
  double wavenumber_;
};

/// Water that goes round to the east as a solid body would, at rest in itself, and lower towards the poles:
/// it stays so (test case 2 of Williamson et al. 1992). Speed and elevation fall with the latitude as its
/// cosine, and as the square of its sine, by `height` to a pole.
class Zonal {
 public:
  Zonal(const Sphere& sphere, const Scale& scale);
  [[nodiscard]] double elevation(const stencil::Place& place) const;
  [[nodiscard]] Shape shape() const;

 private:
  Sphere sphere_;
  Scale scale_;
  double speed_;  ///< at the equator [m/s]
};

}  // namespace fabricmark::tsunami
