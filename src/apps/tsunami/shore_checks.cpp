#include "apps/tsunami/shore_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fabricmark::tsunami {

namespace {

/// The volume of all water, in cells of a metre [m]: row by row, which has fewer roundings than all at once.
double volume(runtime::Communicator& ranks, const stencil::Part& part, const State& state) {
  double all = 0;
  for (std::size_t row = 0; row < part.rows; ++row) {
    double of_row = 0;
    for (std::size_t column = 0; column < part.columns; ++column)
      of_row += state[part.at(kElevation, row, column)] + state[part.at(kDepth, row, column)];
    all += of_row;
  }
  return ranks.all_reduce_sum(all);
}

/// Relative, of the water's height.
std::string error_note(runtime::Communicator& ranks, const Ocean& ocean, const stencil::Part& part,
                       const State& end, double seconds) {
  double off = 0;
  double all = 0;
  for (std::size_t cell = 0; cell < part.cells(); ++cell) {
    const double should =
        ocean.solution({cell % part.columns, part.first_row + cell / part.columns}, seconds);
    off += std::abs(end[kElevation * part.cells() + cell] - should);
    all += should + end[kDepth * part.cells() + cell];
  }
  return fmt::format("after {:.6g} of a period, relative error of the water's height: L1 {:.6g}",
                     seconds / ocean.period, ranks.all_reduce_sum(off) / ranks.all_reduce_sum(all));
}

}  // namespace

runtime::Verdict mass_verdict(runtime::Communicator& ranks, const Ocean& ocean, const stencil::Part& part,
                              const State& start, const State& end, double epsilon) {
  const double before = volume(ranks, part, start);
  const double after = volume(ranks, part, end);
  // Each step rounds the elevation of each cell once, and what is added up here is rounded, too.
  constexpr double kFew = 16;
  const auto cells = static_cast<double>(ocean.problem.columns * ocean.problem.rows);
  const double share = std::min(1.0, 4 * ocean.height * cells / before);
  const auto steps = static_cast<double>(ocean.problem.steps);
  constexpr double kSum = 1e-14;
  runtime::Verdict verdict{.name = "mass",
                           .error = std::abs(after - before) / before,
                           .threshold = epsilon * share * (kFew + steps) + kSum,
                           .measure = "relative change",
                           .checked = part.cells()};
  if (verdict.error > 0) verdict.worst = {"water of all cells", before, after};
  return verdict;
}

std::vector<std::string> shore_notes(runtime::Communicator& ranks, const Ocean& ocean,
                                     const stencil::Part& part, const State& end) {
  const std::size_t cells = part.cells();
  double highest = 0;
  double flooded = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const double depth = end[kDepth * cells + cell];
    const double largest = end[kLargest * cells + cell];
    if (depth > 0 || largest + depth <= ocean.wet) continue;
    highest = std::max(highest, largest);
    flooded += 1;
  }
  highest = ranks.all_reduce_max_number(highest);
  std::vector<std::string> notes{fmt::format("run-up {:.6g} m; {:.6g} cells of land were under water",
                                             highest, ranks.all_reduce_sum(flooded))};
  if (ocean.runup > 0) {
    notes.front() += fmt::format("; {:.6g} of the law of waves that do not break, {:.6g} m",
                                 highest / ocean.runup, ocean.runup);
  }
  const double seconds = static_cast<double>(ocean.problem.steps) * ocean.dt;
  if (ocean.period > 0) notes.push_back(error_note(ranks, ocean, part, end, seconds));
  return notes;
}

}  // namespace fabricmark::tsunami
