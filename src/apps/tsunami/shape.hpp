#pragma once

#include <functional>

#include "stencil/problem.hpp"

namespace fabricmark::tsunami {

/// Of the open ocean, and of a wave, in metres.
struct Scale {
  double depth = 0;
  double height = 0;
  double columns = 0;
  double rows = 0;
  double spacing = 0;
};

/// Depths, and the water at the start, by cell.
struct Shape {
  std::function<double(const stencil::Place&)> depth;
  std::function<double(const stencil::Place&)> elevation;
  std::function<double(const stencil::Place&)> east = [](const stencil::Place&) { return 0.0; };
};

/// Of the middle of a cell, in cells.
inline double middle(std::size_t number) { return static_cast<double>(number) + 0.5; }

}  // namespace fabricmark::tsunami
