#include "mesh/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.hpp"

namespace fabricmark::mesh {

namespace {

constexpr double kMostLongitude = 360;  // from -180 or from 0
constexpr double kMostLatitude = 90;

/// Smallest and largest coordinates.
struct Box {
  double west, east, south, north;

  explicit Box(const Mesh& mesh) {
    const auto [left, right] = std::ranges::minmax(mesh.x);
    const auto [low, high] = std::ranges::minmax(mesh.y);
    west = left;
    east = right;
    south = low;
    north = high;
  }
  [[nodiscard]] double size() const { return std::max(east - west, north - south); }
  /// How far its middle is from 0.
  [[nodiscard]] double offset() const { return std::hypot((west + east) / 2, (south + north) / 2); }
};

bool is_place(double x, double y) { return std::abs(x) <= kMostLongitude && std::abs(y) <= kMostLatitude; }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double usual_edge(const Mesh& mesh) {
  std::vector<double> lengths;
  lengths.reserve(mesh.element_count());
  for (const auto& [from, to, unused] : mesh.elements) {
    const auto a = static_cast<std::size_t>(from);
    const auto b = static_cast<std::size_t>(to);
    lengths.push_back(std::hypot(mesh.x[b] - mesh.x[a], mesh.y[b] - mesh.y[a]));
  }
  return median(std::move(lengths));
}

}  // namespace

Projection projection_of(const std::string& name) {
  if (name == "auto") return Projection::kAuto;
  if (name == "none") return Projection::kMetres;
  if (name == "cpp") return Projection::kCpp;
  throw bad_use("there is no projection '" + name + "'", "use auto, none or cpp");
}

void project(Mesh& mesh, const Origin& origin) {
  constexpr double kEarthRadius = 6378206.4;  // Clarke's of 1866, as ADCIRC has it
  constexpr double kRadians = std::numbers::pi / 180;
  for (std::size_t node = 0; node < mesh.node_count(); ++node) {
    if (is_place(mesh.x[node], mesh.y[node])) continue;
    throw bad_use(fmt::format("{}: {} at ({}, {}) has no longitude and latitude", origin.name,
                              origin.node(node), mesh.x[node], mesh.y[node]),
                  "leave out --projection cpp where coordinates are metres");
  }
  const Box box(mesh);
  if (box.east - box.west > 180) {
    throw bad_use(
        fmt::format("{}: longitudes from {} to {} are no part of the earth that this projection shows",
                    origin.name, box.west, box.east),
        "write them from 0 to 360 where they cross the 180th meridian");
  }
  const double longitude = (box.west + box.east) / 2;
  const double latitude = (box.south + box.north) / 2;
  const double scale = kEarthRadius * kRadians;
  for (double& x : mesh.x) x = scale * std::cos(latitude * kRadians) * (x - longitude);
  for (double& y : mesh.y) y = scale * (y - latitude);
}

void refuse_degrees(const Mesh& mesh, const Origin& origin) {
  constexpr double kFar = 10;  // times the length of an edge
  const Box box(mesh);
  if (!is_place(box.west, box.south) || !is_place(box.east, box.north)) return;
  const double depth = median(mesh.depth);
  if (depth <= box.size()) return;
  if (depth <= kFar * usual_edge(mesh) && box.offset() <= box.size()) return;
  throw bad_use(
      fmt::format("{}: coordinates look like degrees: x from {:g} to {:g}, y from {:g} to {:g}, and "
                  "a depth of {:g} m",
                  origin.name, box.west, box.east, box.south, box.north, depth),
      "take --projection cpp for longitude and latitude, or --projection none for metres");
}

}  // namespace fabricmark::mesh
