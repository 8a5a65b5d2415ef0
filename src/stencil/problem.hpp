#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/parameters.hpp"

namespace fabricmark::stencil {

/// A cell of a grid.
struct Place {
  std::size_t column = 0;
  std::size_t row = 0;
};

/// A grid of cells that step in time, as its application has it: all of it, on every rank.
struct Problem {
  std::size_t columns = 0;
  std::size_t rows = 0;
  bool is_periodic_across = false;  ///< the last column has the first one beside it
  bool is_periodic_along = false;   ///< the same of rows
  std::vector<std::string> fields;  ///< names of a cell's numbers
  std::vector<double> constants;    ///< as the kernels take them
  std::uint8_t edge_kind = 0;       ///< of what lies beyond the grid
  std::int64_t steps = 0;
  int phases = 1;  ///< of a step, each of which the kernels make as one of theirs (FM_PHASES)
  /// Writes a cell's numbers at the start.
  std::function<void(const Place& place, std::span<double> numbers)> start;
  /// What a cell is, of 0 to 127.
  std::function<std::uint8_t(const Place& place)> kind;
};

/// A grid of `columns`, `rows` and `steps` of the parameters, all of whose cells are of the kind 0.
Problem problem_of(const runtime::Parameters& parameters, std::vector<std::string> fields);

}  // namespace fabricmark::stencil
