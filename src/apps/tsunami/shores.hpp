#pragma once

#include "apps/tsunami/shape.hpp"

namespace fabricmark::tsunami {

/// Water that swings in a bowl whose depth is a parabola, to and fro between a heap in the middle and one
/// around (Thacker 1981).
class Bowl {
 public:
  /// The bowl's water is three fifths as wide as the grid at rest, and `height` higher in the middle at
  /// first.
  explicit Bowl(const Scale& scale);

  [[nodiscard]] Shape shape() const;
  /// The elevation of the water, and where there is none of the ground.
  [[nodiscard]] double elevation(const stencil::Place& place, double seconds) const;
  /// Until all is as it was [s].
  [[nodiscard]] double period() const;

 private:
  [[nodiscard]] double depth(const stencil::Place& place) const;
  /// From the middle, in parts of the radius of the water at rest; squared.
  [[nodiscard]] double square(const stencil::Place& place) const;

  Scale scale_;
  double radius_;  ///< of the water at rest [m]
  double swing_;   ///< Thacker's A
};

/// A solitary wave that runs up a plane beach in the east (Synolakis 1987).
class Beach {
 public:
  explicit Beach(const Scale& scale);

  [[nodiscard]] Shape shape() const;
  /// The highest place that a wave comes to that does not break, by its law [m].
  [[nodiscard]] double runup() const;

 private:
  Scale scale_;
  double shore_;  ///< of still water, from the west [m]
};

}  // namespace fabricmark::tsunami
