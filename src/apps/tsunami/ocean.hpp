#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "apps/tsunami/sphere.hpp"
#include "runtime/parameters.hpp"
#include "stencil/problem.hpp"

namespace fabricmark::tsunami {

/// Numbers of a cell, in the order of kernels/tsunami/cell.h. A scheme may have more.
enum Field : std::size_t { kElevation, kEast, kNorth, kDepth, kLargest, kArrival };
/// And of one on the sphere.
inline constexpr std::size_t kTangent = 6;
/// Kinds of cells.
enum Kind : std::uint8_t { kWater, kLand, kOpen };

/// A case, in metres and seconds.
struct Ocean {
  stencil::Problem problem;
  double dx = 0;  ///< from a column to the next; on the sphere in the middle latitude
  double dy = 0;
  double deepest = 0;
  double dt = 0;
  double threshold = 0;
  double height = 0;               ///< of the water at the start, about
  std::optional<Sphere> sphere{};  ///< on which it lies, if not on a plane
  bool has_shores = false;         ///< that move: finite volumes, which wet and dry
  double wet = 0;                  ///< height of water that moves there
  bool is_closed = false;          ///< no water leaves over the edges
  bool is_at_rest = false;
  /// What the elevation is after so many seconds; empty where nothing says.
  std::function<double(const stencil::Place& place, double seconds)> solution{};
  double period = 0;     ///< after which that is as at the start [s]; 0: never
  double runup = 0;      ///< how high the water should come [m]; 0: nothing says
  std::string digest{};  ///< of depths from a file
  /// What the outer edges have, where the file or the sphere says so (GridFile).
  std::optional<std::array<double, 4>> degrees{};
};

inline constexpr double kGravity = 9.80665;

/// As the parameters say.
Ocean make_ocean(const runtime::Parameters& parameters);

}  // namespace fabricmark::tsunami
