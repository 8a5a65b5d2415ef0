#pragma once

#include <cstddef>

#include "runtime/context.hpp"
#include "stencil/problem.hpp"

namespace fabricmark::stencil {

/// How the cells of a grid stream through elements: row by row, or column by column where it is turned.
struct Streamed {
  std::size_t in_row = 0;  ///< cells from one that streams to that beside it across the stream
  std::size_t rows = 0;
  bool is_turned = false;

  /// When a cell comes, counted from the first one.
  [[nodiscard]] std::size_t at(std::size_t row, std::size_t column) const {
    return is_turned ? column * in_row + row : row * in_row + column;
  }
};

/// Along x or y of the grid.
Streamed streamed(const Problem& problem, bool is_turned);

/// The parameter `orientation`; "auto" is x.
Streamed streamed(const runtime::Context& context, const Problem& problem);

/// Throws Error (bad use) for a grid that does not stream in this way: one that is periodic, whose rows are
/// no whole words, or longer than what the local memory has room for.
void require_streams(const runtime::Context& context, const Problem& problem, const Streamed& stream);

}  // namespace fabricmark::stencil
