#include "mesh/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/number_from.hpp"
#include "mesh/fort14.hpp"

namespace fabricmark::mesh {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 29;  // three sides of each are counted in 32 bits

// The bay is the picture of a rectangle in (u, v) under the complex sine, a map that keeps angles: its head
// lies at v = 0, its sides are hyperbolas, and its mouth is a part of an ellipse at v = kMouth. Edges of one
// length in (u, v) are up to four times as long at the mouth as at the corners of the head.
constexpr double kSide = 1.1;
constexpr double kMouth = 1.4;
constexpr double kScale = 25e3;  // [m]
constexpr double kDeepest = 12;
constexpr double kShallowest = 2;

/// A part `s` of the way along the row at `v`.
struct Place {
  double s = 0;
  double v = 0;

  [[nodiscard]] double u() const { return kSide * (2 * s - 1); }
  [[nodiscard]] double x() const { return kScale * std::sin(u()) * std::cosh(v); }
  [[nodiscard]] double y() const { return kScale * std::cos(u()) * std::sinh(v); }
  [[nodiscard]] double depth() const {
    const double across = 2 * s - 1;
    const double openness = v / kMouth * (1 - across * across * across * across);
    const double bank = 0.12 * std::sin(5 * s + 1) * std::sin(5 * v);  // so that nothing is symmetric
    const double part = std::clamp(openness * (1 + bank) / 1.12, 0.0, 1.0);
    return kShallowest + (kDeepest - kShallowest) * std::pow(part, 0.8);
  }
};

/// How long edges are in (u, v), relative to those at the mouth.
double fineness(double v) { return 0.7 + 0.3 * v / kMouth; }

/// Rows of nodes from the head to the mouth: where they are, and how many edges each has. A strip between two
/// rows has as many triangles as these have edges together.
struct Rows {
  std::vector<double> v;
  std::vector<std::int64_t> edges;
};

/// Where rows lie for edges of so long at the mouth.
std::vector<double> row_places(double length) {
  std::vector<double> places{0};
  while (places.back() < kMouth)
    places.push_back(places.back() + length * std::sqrt(0.75) * fineness(places.back()));
  if (places.size() > 2 && places.back() - kMouth > kMouth - places[places.size() - 2]) places.pop_back();
  const double end = places.back();
  for (double& place : places) place *= kMouth / end;
  return places;
}

double edges_at(double v, double length) { return 2 * kSide / (length * fineness(v)); }

double triangles(double length) {
  double sum = 0;
  const auto places = row_places(length);
  for (std::size_t row = 0; row < places.size(); ++row)
    sum += edges_at(places[row], length) * (row == 0 || row + 1 == places.size() ? 1 : 2);
  return sum;
}

/// The rows that have exactly so many triangles between them.
Rows rows_for(std::int64_t elements) {
  const auto wanted = static_cast<double>(elements);
  double longest = 4;
  double shortest = 1 / std::sqrt(4 * wanted + 16);
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(longest * shortest);
    (triangles(middle) > wanted ? shortest : longest) = middle;
  }
  Rows rows{.v = row_places(longest), .edges = {}};
  const std::size_t count = rows.v.size();
  // An edge of an inner row is a side of two triangles: the rows at the ends make the number even.
  std::vector<double> weights(count);
  for (std::size_t row = 0; row < count; ++row) weights[row] = edges_at(rows.v[row], longest);
  const std::int64_t most_at_ends = elements - 2 * (static_cast<std::int64_t>(count) - 2);
  const std::int64_t first =
      std::clamp<std::int64_t>(std::llround(weights.front()), 1, std::max<std::int64_t>(1, most_at_ends - 1));
  std::int64_t last = std::max<std::int64_t>(1, std::llround(weights.back()));
  if (count == 2) last = elements - first;
  last += (elements - first - last) % 2;
  const std::int64_t inner = (elements - first - last) / 2;
  const double sum = std::accumulate(weights.begin() + 1, weights.end() - 1, 0.0);
  rows.edges.assign(count, 1);
  rows.edges.front() = first;
  rows.edges.back() = last;
  double reached = 0;
  std::int64_t given = 0;
  for (std::size_t row = 1; row + 1 < count; ++row) {
    reached += weights[row];
    const std::int64_t upto =
        row + 2 == count ? inner : std::llround(static_cast<double>(inner) * reached / sum);
    rows.edges[row] = upto - given;
    given = upto;
  }
  if (std::ranges::min(rows.edges) >= 1) return rows;
  return {.v = {0, kMouth}, .edges = {elements - elements / 2, elements / 2}};  // too few for rows between
}

/// The triangles between two rows of nodes, each next one with the row that is behind.
void add_strip(Mesh& mesh, std::int32_t lower, std::int64_t lower_edges, std::int32_t upper,
               std::int64_t upper_edges) {
  std::int64_t i = 0;
  std::int64_t j = 0;
  while (i < lower_edges || j < upper_edges) {
    const auto here = static_cast<std::int32_t>(lower + i);
    const auto there = static_cast<std::int32_t>(upper + j);
    const bool below = i < lower_edges && (2 * i + 1) * upper_edges <= (2 * j + 1) * lower_edges;
    if (below || j == upper_edges) {
      mesh.elements.push_back({here, here + 1, there});
      ++i;
    } else {
      mesh.elements.push_back({here, there + 1, there});
      ++j;
    }
  }
}

void check_size(std::int64_t elements) {
  if (elements > kMostElements)
    throw bad_use("a mesh of " + std::to_string(elements) + " elements is too large",
                  "take at most " + std::to_string(kMostElements));
}

}  // namespace

Mesh rectangle(std::int32_t nx, std::int32_t ny, double lx, double ly, double depth, const Sides& sides) {
  if (nx < 1 || ny < 1 || !(lx > 0) || !(ly > 0) || !(depth > 0))
    throw bad_use("a rectangle needs cells, lengths and a depth above 0", "correct them");
  check_size(2 * std::int64_t{nx} * ny);
  Mesh mesh;
  mesh.title = "rectangle";
  for (std::int32_t j = 0; j <= ny; ++j) {
    for (std::int32_t i = 0; i <= nx; ++i) {
      mesh.x.push_back(lx * i / nx);
      mesh.y.push_back(ly * j / ny);
      mesh.depth.push_back(depth);
    }
  }
  const auto node = [&](std::int32_t i, std::int32_t j) { return j * (nx + 1) + i; };
  for (std::int32_t j = 0; j < ny; ++j) {
    for (std::int32_t i = 0; i < nx; ++i) {
      mesh.elements.push_back({node(i, j), node(i + 1, j), node(i + 1, j + 1)});
      mesh.elements.push_back({node(i, j), node(i + 1, j + 1), node(i, j + 1)});
    }
  }
  for (std::int32_t i = 0; i < nx; ++i) mesh.boundary.push_back({{node(i, 0), node(i + 1, 0)}, sides.bottom});
  for (std::int32_t j = 0; j < ny; ++j)
    mesh.boundary.push_back({{node(nx, j), node(nx, j + 1)}, sides.right});
  for (std::int32_t i = nx; i > 0; --i) mesh.boundary.push_back({{node(i, ny), node(i - 1, ny)}, sides.top});
  for (std::int32_t j = ny; j > 0; --j) mesh.boundary.push_back({{node(0, j), node(0, j - 1)}, sides.left});
  return mesh;
}

Mesh bay(std::int64_t elements) {
  if (elements < 2)
    throw bad_use("a bay of " + std::to_string(elements) + " elements cannot be", "take 2 or more");
  check_size(elements);
  const Rows rows = rows_for(elements);
  Mesh mesh;
  mesh.title = "bay:" + std::to_string(elements);
  mesh.elements.reserve(static_cast<std::size_t>(elements));
  std::vector<std::int32_t> starts;
  for (std::size_t row = 0; row < rows.v.size(); ++row) {
    starts.push_back(static_cast<std::int32_t>(mesh.x.size()));
    for (std::int64_t i = 0; i <= rows.edges[row]; ++i) {
      const Place place{.s = static_cast<double>(i) / static_cast<double>(rows.edges[row]), .v = rows.v[row]};
      mesh.x.push_back(place.x());
      mesh.y.push_back(place.y());
      mesh.depth.push_back(place.depth());
    }
  }
  const auto end_of = [&](std::size_t row) {
    return static_cast<std::int32_t>(starts[row] + rows.edges[row]);
  };
  for (std::size_t row = 0; row + 1 < starts.size(); ++row)
    add_strip(mesh, starts[row], rows.edges[row], starts[row + 1], rows.edges[row + 1]);
  for (std::int32_t i = 0; i < rows.edges.front(); ++i)
    mesh.boundary.push_back({{i, i + 1}, EdgeKind::kLand});
  for (std::size_t row = 0; row + 1 < starts.size(); ++row)
    mesh.boundary.push_back({{end_of(row), end_of(row + 1)}, EdgeKind::kLand});
  for (std::int32_t i = end_of(starts.size() - 1); i > starts.back(); --i)
    mesh.boundary.push_back({{i, i - 1}, EdgeKind::kSea});
  for (std::size_t row = starts.size() - 1; row > 0; --row)
    mesh.boundary.push_back({{starts[row], starts[row - 1]}, EdgeKind::kLand});
  return mesh;
}

Mesh named_mesh(const std::string& name, Projection projection) {
  constexpr std::string_view kBay = "bay:";
  if (!name.starts_with(kBay)) return read_mesh(name, projection);
  if (projection == Projection::kCpp)
    throw bad_use("--projection cpp, but '" + name + "' is in metres", "leave it out");
  const auto elements = number_from<std::int64_t>(std::string_view(name).substr(kBay.size()));
  if (!elements)
    throw bad_use("'" + name + "' names no bay",
                  "write bay:N with the number of elements, such as bay:27136");
  return bay(*elements);
}

}  // namespace fabricmark::mesh
