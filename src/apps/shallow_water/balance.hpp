#pragma once

#include <cstdint>
#include <vector>

#include "apps/shallow_water/basis.hpp"
#include "apps/shallow_water/local_mesh.hpp"
#include "apps/shallow_water/problem.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::shallow_water {

/// The water of a run, from its start to step `last`. All but corrupt_inflow are collective.
struct Balance {
  const runtime::Context& context;
  const Basis& basis;
  const Problem& problem;
  const LocalMesh& local;
  const std::vector<double>& outflow;  ///< of own elements, as Execution has it
  double dt = 0;
  std::int64_t last = 0;

  /// What all water has changed by and what has passed open edges cancel; what goes to and fro there is
  /// rounded.
  [[nodiscard]] runtime::Verdict mass_verdict(const Field& before, const Field& after,
                                              double volume_at_start) const;
  /// What rivers have brought is what was given, but for a rounding of each stage.
  [[nodiscard]] runtime::Verdict inflow_verdict() const;
  /// A hundredth more has come through rivers.
  void corrupt_inflow(std::vector<double>& corrupted) const;

 private:
  [[nodiscard]] bool is_double() const { return context.parameters().text("data_type") == "double"; }
  /// Of the edges by which rivers flow into an element [m]; 0 where it lies at the sea, too.
  [[nodiscard]] double river_length(std::size_t place) const;
};

}  // namespace fabricmark::shallow_water
