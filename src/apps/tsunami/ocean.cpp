#include "apps/tsunami/ocean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "base/random_bits.hpp"

namespace fabricmark::tsunami {

namespace {

using stencil::Place;

/// Of the open ocean, and of a wave.
struct Scale {
  double depth = 0;
  double height = 0;
  double columns = 0;
  double rows = 0;
  double spacing = 0;
};

/// Depths, and the water at the start, by cell.
struct Shape {
  std::function<double(const Place&)> depth;
  std::function<double(const Place&)> elevation;
  std::function<double(const Place&)> east = [](const Place&) { return 0.0; };
};

double middle(std::size_t number) { return static_cast<double>(number) + 0.5; }

double bell(double x, double y) { return std::exp(-x * x - y * y); }

/// A coast in the east with a shelf, a trench off it, islands, and water that an earthquake has lifted there.
Shape ocean(const Scale& scale) {
  Shape shape;
  shape.depth = [scale](const Place& place) {
    const double x = middle(place.column) / scale.columns;
    const double y = middle(place.row) / scale.rows;
    const double coast = 0.88 + 0.03 * std::sin(9 * y) + 0.01 * std::sin(31 * y);
    const double share = (coast - x) / 0.08;  // of the way over the shelf, from the coast
    double depth = scale.depth * std::clamp(0.5 + 0.5 * std::tanh(2 * (share - 1)), 0.0, 1.0);
    depth += 0.8 * scale.depth * std::exp(-std::pow((x - coast + 0.2) / 0.02, 2));
    for (const auto& [island_x, island_y] : {std::pair{0.3, 0.35}, {0.36, 0.62}, {0.5, 0.8}}) {
      depth -= 1.2 * scale.depth * bell((x - island_x) / 0.015, (y - island_y) / 0.02);
    }
    return x > coast ? -1.0 : depth;
  };
  shape.elevation = [scale](const Place& place) {
    const double x = middle(place.column) / scale.columns;
    const double y = middle(place.row) / scale.rows;
    const double lift = bell((x - 0.7) / 0.02, (y - 0.5) / 0.12);
    const double fall = 0.5 * bell((x - 0.74) / 0.02, (y - 0.5) / 0.12);
    return scale.height * (lift - fall);
  };
  return shape;
}

/// Water at rest over a bed of random depth, with islands.
Shape lake(const Scale& scale) {
  Shape shape;
  shape.depth = [scale](const Place& place) {
    const std::uint64_t bits = mixed_bits((place.row * 100003 + place.column + 1) * kRandomStep);
    const double part = static_cast<double>(bits >> 11U) * 0x1p-53;
    const bool is_island = place.row % 17 == 8 && place.column % 23 < 3;
    return is_island ? -1.0 : scale.depth * (0.5 + 0.375 * part);
  };
  shape.elevation = [](const Place&) { return 0.0; };
  return shape;
}

/// A long wave that travels to the east, from the west third; `far`: the depth from the middle on.
Shape wave(const Scale& scale, double far) {
  Shape shape;
  shape.depth = [scale, far](const Place& place) {
    const double x = middle(place.column) / scale.columns;
    return scale.depth + (far - scale.depth) * (0.5 + 0.5 * std::tanh((x - 0.55) / 0.01));
  };
  shape.elevation = [scale](const Place& place) {
    return scale.height * bell((middle(place.column) / scale.columns - 0.3) / 0.05, 0);
  };
  shape.east = [scale, elevation = shape.elevation](const Place& place) {
    const double still = std::sqrt(kGravity * scale.depth);
    return 2 * (std::sqrt(kGravity * (scale.depth + elevation(place))) - still);
  };
  return shape;
}

Shape hump(const Scale& scale) {
  Shape shape;
  shape.depth = [scale](const Place&) { return scale.depth; };
  shape.elevation = [scale](const Place& place) {
    return scale.height * bell((middle(place.column) / scale.columns - 0.5) / 0.1,
                               (middle(place.row) / scale.rows - 0.5) / 0.1);
  };
  return shape;
}

Shape shape_of(const std::string& name, const Scale& scale) {
  if (name == "lake") return lake(scale);
  if (name == "wave") return wave(scale, scale.depth);
  if (name == "shelf") return wave(scale, scale.depth / 4);
  if (name == "hump") return hump(scale);
  return ocean(scale);
}

/// Of a wave to the east over one depth: each height travels at its own speed (Riemann), until the wave
/// breaks.
double travelled(const Scale& scale, const Place& place, double seconds) {
  const double still = std::sqrt(kGravity * scale.depth);
  const auto elevation_at = [&](double column) {
    return scale.height * bell((column / scale.columns - 0.3) / 0.05, 0);
  };
  // The column at the start from which it came: a fixed point.
  double from = middle(place.column) - still * seconds / scale.spacing;
  constexpr int kRounds = 100;
  for (int i = 0; i < kRounds; ++i) {
    const double wave = std::sqrt(kGravity * (scale.depth + elevation_at(from)));
    from = middle(place.column) - (3 * wave - 2 * still) * seconds / scale.spacing;
  }
  return elevation_at(from);
}

}  // namespace

Ocean make_ocean(const runtime::Parameters& parameters) {
  Ocean made;
  made.problem = stencil::problem_of(parameters, {"elevation", "speed to the east", "speed to the north",
                                                  "depth", "largest elevation", "arrival"});
  stencil::Problem& problem = made.problem;
  problem.edge_kind = parameters.text("edges") == "open" ? kOpen : kLand;
  made.spacing = parameters.number("spacing");
  made.threshold = parameters.number("threshold");
  const std::string& name = parameters.text("case");
  made.is_at_rest = name == "lake";
  const Scale scale{.depth = parameters.number("depth"),
                    .height = parameters.number("height"),
                    .columns = static_cast<double>(problem.columns),
                    .rows = static_cast<double>(problem.rows),
                    .spacing = made.spacing};
  const Shape shape = shape_of(name, scale);
  const double least = parameters.number("least_depth");
  problem.kind = [depth = shape.depth, least](const Place& place) -> std::uint8_t {
    return depth(place) < least ? kLand : kWater;
  };
  problem.start = [shape, least](const Place& place, std::span<double> numbers) {
    const double depth = shape.depth(place);
    const bool is_land = depth < least;
    numbers[kDepth] = is_land ? 0 : depth;
    numbers[kElevation] = is_land ? 0 : shape.elevation(place);
    numbers[kEast] = is_land ? 0 : shape.east(place);
    numbers[kNorth] = 0;
    numbers[kLargest] = numbers[kElevation];
    numbers[kArrival] = 0;
  };
  for (std::size_t row = 0; row < problem.rows; ++row) {
    for (std::size_t column = 0; column < problem.columns; ++column)
      made.deepest = std::max(made.deepest, shape.depth({column, row}));
  }
  if (made.deepest < least) {
    throw bad_use(fmt::format("there is no water of --least-depth {} m", least),
                  "use less of it, or more --depth");
  }
  made.dt = parameters.number("cfl") * made.spacing / std::sqrt(kGravity * (made.deepest + scale.height));
  if (name == "wave") {
    made.solution = [scale](const Place& place, double seconds) { return travelled(scale, place, seconds); };
  }
  const double half = made.dt / (2 * made.spacing);
  const double most = made.spacing / made.dt;
  problem.constants = {half, half, kGravity, 1 / (16 * kGravity), made.threshold, most, most};
  return made;
}

}  // namespace fabricmark::tsunami
