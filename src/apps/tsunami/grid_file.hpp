#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fabricmark::tsunami {

/// How many cells a grid has.
struct GridSize {
  std::size_t columns = 0;
  std::size_t rows = 0;
};

struct GridOutline : GridSize {
  bool has_degrees = false;
};

/// Depths on a plane grid, as `fabricmark bathymetry` writes them: row by row from the south, in each from
/// the west.
struct GridFile {
  GridSize size{};
  double dx = 0;  ///< from a column to the next [m]
  double dy = 0;
  std::vector<double> depth{};      ///< below still water [m], negative on land
  std::vector<double> elevation{};  ///< of the water at the start [m]; empty where the file has none
  /// Of the outer edges [degrees]: west, east, south and north, where the file says so.
  std::optional<std::array<double, 4>> degrees{};
};

/// Throws Error (bad use) for a file that is none of these.
GridFile read_grid(const std::string& file);

/// How large the depths of a file are, and whether it knows its degrees; nothing where `read_grid` would
/// throw for it.
std::optional<GridOutline> outline_of_grid(const std::string& file);

}  // namespace fabricmark::tsunami
