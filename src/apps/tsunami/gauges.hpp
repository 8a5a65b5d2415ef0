#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/tsunami/ocean.hpp"

namespace fabricmark::tsunami {

/// A cell whose water is recorded.
struct Gauge {
  std::string name;
  stencil::Place place{};
};

/// `text`: what --gauges says, or a file of it. Throws Error (bad use) for what names no cells of water.
std::vector<Gauge> gauges_of(const std::string& text, const Ocean& ocean);

}  // namespace fabricmark::tsunami
