#include "apps/tsunami/grid_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "apps/tsunami/netcdf.hpp"
#include "base/error.hpp"

namespace fabricmark::tsunami {

namespace {

constexpr double kUneven = 1e-3;  // of a spacing, which coordinates in float may be off

/// What `fabricmark bathymetry` does not write. What is said of it follows "the depths '...'".
using Wrong = NetCdf::Damage;

std::string content_of(const std::string& file) {
  std::error_code none;
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file, none)) {
    const int why = stream ? EISDIR : errno;
    throw bad_use(fmt::format("cannot read the depths '{}': {}", file, std::generic_category().message(why)),
                  "name a file of `fabricmark bathymetry`");
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// `body` on the file, whose faults get their line.
template <typename Body>
auto read(const std::string& file, const Body& body) {
  try {
    return body(NetCdf(content_of(file)));
  } catch (const Wrong& wrong) {
    throw bad_use(fmt::format("the depths '{}' {}", file, wrong.what()),
                  "make them with `fabricmark bathymetry`");
  }
}

const NetCdf::Variable& grid_variable(const NetCdf& file, const char* name) {
  const NetCdf::Variable* const found = file.variable(name);
  if (found == nullptr) throw Wrong(fmt::format("have no variable '{}'", name));
  if (found->dimensions.size() != 2)
    throw Wrong(fmt::format("have a '{}' of {} dimensions, not 2", name, found->dimensions.size()));
  if (const std::string units = found->text("units"); units != "m")
    throw Wrong(fmt::format("have a '{}' in '{}', not in 'm'", name, units));
  for (const char* packing : {"scale_factor", "add_offset"}) {
    if (found->number(packing)) throw Wrong(fmt::format("have a '{}' with a {}", name, packing));
  }
  return *found;
}

const NetCdf::Variable& depth_of(const NetCdf& file) {
  const NetCdf::Variable& depth = grid_variable(file, "depth");
  const std::string positive = depth.text("positive");
  if (positive != "down")
    throw Wrong(fmt::format("have a 'depth' whose attribute 'positive' is '{}', not 'down'", positive));
  return depth;
}

GridSize size_of(const NetCdf& file, const NetCdf::Variable& depth) {
  return {.columns = file.dimensions()[depth.dimensions[1]].length,
          .rows = file.dimensions()[depth.dimensions[0]].length};
}

/// From a cell to the next along a dimension, whose coordinates are to grow evenly.
double spacing_of(const NetCdf& file, std::size_t dimension, const char* what) {
  const std::string& name = file.dimensions()[dimension].name;
  const NetCdf::Variable* const variable = file.variable(name);
  if (variable == nullptr || variable->dimensions != std::vector{dimension})
    throw Wrong(fmt::format("have no coordinates '{}' of their {}", name, what));
  if (const std::string units = variable->text("units"); units != "m")
    throw Wrong(fmt::format("have {} in '{}', not on a plane in 'm'", what, units));
  const std::vector<double> at = file.numbers(*variable);
  if (at.size() < 2) throw Wrong(fmt::format("have less than two {}", what));
  const double spacing = (at.back() - at.front()) / static_cast<double>(at.size() - 1);
  if (!(spacing > 0) || !std::isfinite(spacing)) throw Wrong(fmt::format("have {} that do not grow", what));
  for (std::size_t i = 1; i < at.size(); ++i) {
    const double here = at[i] - at[i - 1];
    if (!(std::abs(here - spacing) <= kUneven * spacing))
      throw Wrong(fmt::format("have {} that are not evenly spaced: {} and {} lie {:.6g} m apart, not {:.6g}",
                              what, i - 1, i, here, spacing));
  }
  return spacing;
}

/// Numbers of all cells, each of which there has to be.
std::vector<double> cells_of(const NetCdf& file, const NetCdf::Variable& variable) {
  std::vector<double> values = file.numbers(variable);
  const std::optional<double> missing = variable.number("_FillValue");
  const auto none = std::ranges::find_if(
      values, [&](double value) { return !std::isfinite(value) || (missing && value == *missing); });
  if (none == values.end()) return values;
  const auto at = static_cast<std::size_t>(none - values.begin());
  const std::size_t columns = file.dimensions()[variable.dimensions[1]].length;
  throw Wrong(fmt::format("have no '{}' in column {}, row {}", variable.name, at % columns, at / columns));
}

std::optional<std::array<double, 4>> degrees_of(const NetCdf& file) {
  constexpr std::array kNames{"geospatial_lon_min", "geospatial_lon_max", "geospatial_lat_min",
                              "geospatial_lat_max"};
  std::array<double, 4> found{};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::optional<double> number = file.number(kNames[i]);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    found[i] = *number;
  }
  if (!(found[0] < found[1]) || !(found[2] < found[3])) return std::nullopt;
  return found;
}

}  // namespace

GridFile read_grid(const std::string& name) {
  return read(name, [](const NetCdf& file) {
    const NetCdf::Variable& depth = depth_of(file);
    GridFile grid{.size = size_of(file, depth)};
    grid.dx = spacing_of(file, depth.dimensions[1], "columns");
    grid.dy = spacing_of(file, depth.dimensions[0], "rows");
    grid.depth = cells_of(file, depth);
    if (file.variable("elevation") != nullptr) {
      const NetCdf::Variable& elevation = grid_variable(file, "elevation");
      if (elevation.dimensions != depth.dimensions) throw Wrong("have an 'elevation' on another grid");
      grid.elevation = cells_of(file, elevation);
    }
    grid.degrees = degrees_of(file);
    return grid;
  });
}

std::optional<GridOutline> outline_of_grid(const std::string& name) try {
  return read(name, [](const NetCdf& file) {
    return GridOutline{size_of(file, depth_of(file)), degrees_of(file).has_value()};
  });
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace fabricmark::tsunami
