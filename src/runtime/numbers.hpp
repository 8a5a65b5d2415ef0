#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "runtime/parameters.hpp"

namespace fabricmark::runtime {

/// What formulas of kernel.toml may name of a run: its parameters that are numbers or flags (true is 1); and
/// of the parameter data_type, where there is one, `element_bytes`, of an element of the inputs, and
/// `value_bytes`, of a number that kernels compute with: of `mixed`, that of the sums.
std::map<std::string, double> numbers_of(const Parameters& parameters);

/// Rows P of the grid of ranks: `wanted`, or where it is 0 as square as it gets, no more rows than columns.
/// Throws Error (bad use) when the ranks do not fill such a grid.
std::size_t grid_rows(int ranks, std::size_t wanted);

}  // namespace fabricmark::runtime
