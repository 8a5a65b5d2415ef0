#include "apps/tsunami/ocean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <string_view>
#include <vector>

#include "apps/tsunami/grid_file.hpp"
#include "apps/tsunami/shores.hpp"
#include "apps/tsunami/sphere.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/random_bits.hpp"

namespace fabricmark::tsunami {

namespace {

using stencil::Place;

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

Shape shape_of(const std::string& name, const Scale& scale, const std::optional<Sphere>& sphere) {
  if (sphere && name == "harmonic") return Harmonic(*sphere, scale).shape();
  if (sphere && name == "zonal") return Zonal(*sphere, scale).shape();
  if (name == "lake") return lake(scale);
  if (name == "wave") return wave(scale, scale.depth);
  if (name == "shelf") return wave(scale, scale.depth / 4);
  if (name == "hump") return hump(scale);
  if (name == "bowl") return Bowl(scale).shape();
  if (name == "beach") return Beach(scale).shape();
  return ocean(scale);
}

std::string digest_of(const GridFile& grid) {
  const auto bytes = [](const std::vector<double>& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  };
  return content_digest(std::string(bytes(grid.depth)).append(bytes(grid.elevation)));
}

std::shared_ptr<const GridFile> checked_grid(const std::string& file, const std::string& name,
                                             const stencil::Problem& problem) {
  auto grid = std::make_shared<const GridFile>(read_grid(file));
  if (grid->size.columns != problem.columns || grid->size.rows != problem.rows) {
    throw bad_use(fmt::format("the depths '{}' have {} x {} cells, and the grid {} x {}", file,
                              grid->size.columns, grid->size.rows, problem.columns, problem.rows),
                  "leave out --columns and --rows, or cut it anew with `fabricmark bathymetry`");
  }
  if (name != "ocean" && name != "hump" && name != "lake") {
    throw bad_use(fmt::format("--case {} has depths of its own", name),
                  "leave out --depths, or use --case ocean, hump or lake");
  }
  if (name == "ocean" && grid->elevation.empty()) {
    throw bad_use(fmt::format("'{}' has no variable 'elevation' for the water at the start", file),
                  "give `fabricmark bathymetry` an earthquake, or use --case hump or lake");
  }
  return grid;
}

/// Depths of a file, and in the case `ocean` its water, too; else that of `own`.
Shape shape_of_file(const std::shared_ptr<const GridFile>& grid, const std::string& name, const Shape& own) {
  Shape shape = own;
  shape.depth = [grid](const Place& place) {
    return grid->depth[place.row * grid->size.columns + place.column];
  };
  if (name != "ocean") return shape;
  shape.elevation = [grid](const Place& place) {
    return grid->elevation[place.row * grid->size.columns + place.column];
  };
  return shape;
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

/// What cells are, and what they begin with: where it is less deep than `least` there is land.
void fill_problem(stencil::Problem& problem, const Shape& shape, double least,
                  const std::optional<Sphere>& sphere) {
  problem.kind = [depth = shape.depth, least](const Place& place) -> std::uint8_t {
    return depth(place) < least ? kLand : kWater;
  };
  problem.start = [shape, least, sphere](const Place& place, std::span<double> numbers) {
    const double depth = shape.depth(place);
    const bool is_land = depth < least;
    numbers[kDepth] = is_land ? 0 : depth;
    numbers[kElevation] = is_land ? 0 : shape.elevation(place);
    numbers[kEast] = is_land ? 0 : shape.east(place);
    numbers[kNorth] = 0;
    numbers[kLargest] = numbers[kElevation];
    numbers[kArrival] = 0;
    if (sphere) numbers[kTangent] = std::tan(sphere->latitude(place.row));
  };
}

/// The same where shores move: all cells may have water, and dry ones have the elevation of the ground.
void fill_shores(stencil::Problem& problem, const Shape& shape, double wet) {
  problem.start = [shape, wet](const Place& place, std::span<double> numbers) {
    std::ranges::fill(numbers, 0.0);
    const double depth = shape.depth(place);
    numbers[kDepth] = depth;
    numbers[kElevation] = std::max(shape.elevation(place), -depth);
    numbers[kEast] = numbers[kElevation] + depth > wet ? shape.east(place) : 0;
    numbers[kLargest] = numbers[kElevation];
  };
}

double deepest_of(const stencil::Problem& problem, const Shape& shape, const char* option, double least) {
  double deepest = 0;
  for (std::size_t row = 0; row < problem.rows; ++row) {
    for (std::size_t column = 0; column < problem.columns; ++column)
      deepest = std::max(deepest, shape.depth({column, row}));
  }
  if (deepest < least) {
    throw bad_use(fmt::format("there is no water of --{} {} m", option, least),
                  "use less of it, or deeper water");
  }
  return deepest;
}

/// The highest water of a file at the start.
double highest_of(const GridFile& grid, double least) {
  double highest = 0;
  for (std::size_t i = 0; i < grid.elevation.size(); ++i) {
    if (grid.depth[i] >= least) highest = std::max(highest, grid.elevation[i]);
  }
  return highest;
}

/// Numbers of cells beside those of all schemes (kernels/tsunami/finite_volume.h).
std::vector<std::string> with_slopes(std::vector<std::string> fields) {
  for (const char* const along : {"the east", "the north"}) {
    for (const char* const of : {"elevation", "height", "speed along", "speed across"})
      fields.push_back(fmt::format("slope of the {} to {}", of, along));
  }
  return fields;
}

void require_scheme(const runtime::Parameters& parameters, bool has_shores) {
  const std::string& name = parameters.text("case");
  const bool is_on_sphere = parameters.text("coordinates") == "sphere";
  const bool is_of_sphere = name == "harmonic" || name == "zonal";
  if (has_shores && is_on_sphere) {
    throw bad_use("--scheme finite_volume has no --coordinates sphere",
                  "use --coordinates plane, or --scheme splitting");
  }
  if (is_of_sphere && !is_on_sphere)
    throw bad_use(fmt::format("--case {} is one of the sphere", name), "use --coordinates sphere");
  const bool has_file = parameters.text("depths") != "none";  // which has its own say (checked_grid)
  if (is_on_sphere && !has_file && !is_of_sphere && name != "ocean" && name != "lake" && name != "hump") {
    throw bad_use(fmt::format("--case {} is one of the plane", name),
                  "use --coordinates plane, or --case ocean, hump, lake, harmonic or zonal");
  }
  if (!has_shores && (name == "bowl" || name == "beach")) {
    throw bad_use(fmt::format("--case {} has shores that move, and those of --scheme splitting do not", name),
                  "use --scheme finite_volume");
  }
}

/// The step and the constants of the finite volumes, half of whose longest step each direction may take.
void fill_step_of_shores(Ocean& ocean, double cfl, double wave) {
  constexpr double kMost = 0.5;
  ocean.dt = cfl * kMost / (wave * (1 / ocean.dx + 1 / ocean.dy));
  ocean.problem.phases = 2;
  ocean.problem.constants = {ocean.dt / ocean.dx, ocean.dt / ocean.dy, kGravity, ocean.wet, ocean.threshold};
}

void fill_step(Ocean& ocean, double cfl, double wave) {
  ocean.dt = cfl * std::min(ocean.dx, ocean.dy) / wave;
  ocean.problem.constants = {ocean.dt / (2 * ocean.dx), ocean.dt / (2 * ocean.dy), kGravity,
                             1 / (16 * kGravity),       ocean.threshold,           ocean.dx / ocean.dt,
                             ocean.dy / ocean.dt};
}

/// The step and the constants on the sphere: cells of each row have a width, and a deepest place.
void fill_step_of_sphere(Ocean& ocean, double cfl, const Shape& shape, double least) {
  constexpr double kMost = 0.9;
  const Sphere& sphere = *ocean.sphere;
  double shortest = std::numeric_limits<double>::infinity();  // time of a wave over a cell [s]
  Place slowest;
  for (Place place; place.row < ocean.problem.rows; ++place.row) {
    const double size = std::min(sphere.width(place.row), sphere.height());
    for (place.column = 0; place.column < ocean.problem.columns; ++place.column) {
      const double depth = shape.depth(place);
      if (depth < least) continue;
      const double seconds = size / std::sqrt(kGravity * (depth + ocean.height));
      if (seconds < shortest) {
        shortest = seconds;
        slowest = place;
      }
    }
  }
  if (cfl > kMost) {
    throw bad_use(
        fmt::format("with --cfl {:.6g} a wave crosses that share of the cell in column {}, row {} in a "
                    "step, and on the sphere {} is stable",
                    cfl, slowest.column, slowest.row, kMost),
        fmt::format("use --cfl {} or less", kMost));
  }
  ocean.dt = cfl * shortest;
  const double equator = kEarthRadius * sphere.step_x;
  ocean.problem.constants = {ocean.dt / (2 * equator),
                             ocean.dt / (2 * sphere.height()),
                             kGravity,
                             1 / (16 * kGravity),
                             ocean.threshold,
                             kMost * equator / ocean.dt,
                             kMost * sphere.height() / ocean.dt,
                             sphere.step_x,
                             sphere.step_y,
                             2 * kEarthRadius * sphere.turn,
                             ocean.dt / (2 * kEarthRadius)};
}

/// What is known of a case.
void fill_solution(Ocean& ocean, const std::string& name, const Scale& scale) {
  if (name == "harmonic" && ocean.sphere->turn == 0) {
    ocean.solution = [wave = Harmonic(*ocean.sphere, scale)](const Place& place, double seconds) {
      return wave.elevation(place, seconds);
    };
  }
  if (name == "zonal") {
    ocean.solution = [flow = Zonal(*ocean.sphere, scale)](const Place& place, double /*seconds*/) {
      return flow.elevation(place);
    };
  }
  if (name == "wave")
    ocean.solution = [scale](const Place& place, double seconds) { return travelled(scale, place, seconds); };
  if (name == "bowl") {
    ocean.solution = [bowl = Bowl(scale)](const Place& place, double seconds) {
      return bowl.elevation(place, seconds);
    };
    ocean.period = Bowl(scale).period();
  }
  if (name == "beach") ocean.runup = Beach(scale).runup();
}

/// Where the grid lies, if on the sphere: as its file says, or from --south on, of square cells at the
/// equator.
void fill_sphere(Ocean& ocean, const runtime::Parameters& parameters, const GridFile* grid) {
  const auto columns = static_cast<double>(ocean.problem.columns);
  const auto rows = static_cast<double>(ocean.problem.rows);
  if (grid != nullptr) {
    if (!grid->degrees) {
      throw bad_use(fmt::format("'{}' does not say which degrees its edges have", parameters.text("depths")),
                    "use --coordinates plane, or cut it anew with `fabricmark bathymetry`");
    }
    ocean.degrees = grid->degrees;
  } else {
    constexpr double kAround = 360;
    const double each = parameters.number("spacing") * kAround / (2 * std::numbers::pi * kEarthRadius);
    const double south = parameters.number("south");
    ocean.degrees = {0, columns * each, south, south + rows * each};
  }
  const double turn = parameters.flag("coriolis") ? kEarthTurn : 0;
  ocean.sphere = sphere_of(*ocean.degrees, ocean.problem.columns, ocean.problem.rows, turn);
  ocean.dx =
      kEarthRadius * ocean.sphere->step_x * std::cos(ocean.sphere->south + 0.5 * rows * ocean.sphere->step_y);
  ocean.dy = ocean.sphere->height();
}

}  // namespace

Ocean make_ocean(const runtime::Parameters& parameters) {
  Ocean made;
  made.has_shores = parameters.text("scheme") == "finite_volume";
  require_scheme(parameters, made.has_shores);
  std::vector<std::string> fields{"elevation", "speed to the east", "speed to the north",
                                  "depth",     "largest elevation", "arrival"};
  const bool is_on_sphere = parameters.text("coordinates") == "sphere";
  if (is_on_sphere) fields.emplace_back("tangent of the latitude");
  made.problem = stencil::problem_of(parameters, made.has_shores ? with_slopes(fields) : fields);
  stencil::Problem& problem = made.problem;
  made.is_closed = parameters.text("edges") == "wall";
  problem.edge_kind = made.is_closed ? kLand : kOpen;
  made.dx = made.dy = parameters.number("spacing");
  made.threshold = parameters.number("threshold");
  // As floats have it, so that all compare with the same number.
  made.wet = static_cast<double>(static_cast<float>(parameters.number("wet_height")));
  const std::string& name = parameters.text("case");
  made.is_at_rest = name == "lake";
  problem.is_periodic_across = name == "zonal";
  const Scale scale{.depth = parameters.number("depth"),
                    .height = parameters.number("height"),
                    .columns = static_cast<double>(problem.columns),
                    .rows = static_cast<double>(problem.rows),
                    .spacing = made.dx};
  made.height = scale.height;
  const double least = made.has_shores ? made.wet : parameters.number("least_depth");
  const std::string& file = parameters.text("depths");
  const std::shared_ptr<const GridFile> grid = file == "none" ? nullptr : checked_grid(file, name, problem);
  if (grid) {
    made.dx = grid->dx;
    made.dy = grid->dy;
    made.digest = digest_of(*grid);
    made.degrees = grid->degrees;
    if (name == "ocean") made.height = highest_of(*grid, least);
  }
  if (is_on_sphere) fill_sphere(made, parameters, grid.get());
  Shape shape = shape_of(name, scale, made.sphere);
  if (grid) shape = shape_of_file(grid, name, shape);
  if (made.has_shores) {
    fill_shores(problem, shape, made.wet);
  } else {
    fill_problem(problem, shape, least, made.sphere);
  }
  made.deepest = deepest_of(problem, shape, made.has_shores ? "wet-height" : "least-depth", least);
  const double wave = std::sqrt(kGravity * (made.deepest + made.height));
  const double cfl = parameters.number("cfl");
  if (made.has_shores) {
    fill_step_of_shores(made, cfl, wave);
  } else if (made.sphere) {
    fill_step_of_sphere(made, cfl, shape, least);
  } else {
    fill_step(made, cfl, wave);
  }
  fill_solution(made, name, scale);
  return made;
}

}  // namespace fabricmark::tsunami
