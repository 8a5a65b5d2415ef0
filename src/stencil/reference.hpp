#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/communicator.hpp"
#include "stencil/part.hpp"

namespace fabricmark::stencil {

/// Three rows of cells on the host, with a ghost cell at each end: for each field, the one below, the one
/// whose next state is wanted, and the one above.
struct HostRow {
  const double* numbers = nullptr;
  const unsigned char* kinds = nullptr;  ///< of the three
  const double* constants = nullptr;
  std::size_t columns = 0;
  std::size_t pitch = 0;  ///< from a row to the next
  int phase = 0;          ///< of the step
};

/// Makes the next state of a row, field by field. Returns the first column in trouble.
using NextRow = std::optional<std::size_t> (*)(const HostRow& row, double* after);

/// Steps on the host.
class Reference {
 public:
  Reference(runtime::Communicator& ranks, const Problem& problem, const Part& part, NextRow next_row,
            int threads);

  /// Of so many rows from `first` on, round the end, the state after a whole step: field by field, row by
  /// row. Collective.
  std::vector<double> step(const std::vector<double>& state, std::size_t first, std::size_t count);
  /// The same after one phase of a step.
  std::vector<double> step_phase(const std::vector<double>& state, int phase, std::size_t first,
                                 std::size_t count);
  /// The first cell in trouble, row by row, that the last phase came across.
  [[nodiscard]] const std::optional<Place>& trouble() const { return trouble_; }

 private:
  /// The first and the last row of each rank, all fields of one and then of the other. Collective.
  [[nodiscard]] std::vector<std::vector<double>> edges(const std::vector<double>& state) const;
  /// A field of a row that may be another rank's or lie beyond the grid; null: there is none.
  [[nodiscard]] const double* field_of(const std::vector<double>& state,
                                       const std::vector<std::vector<double>>& edges, std::size_t field,
                                       std::int64_t row) const;

  runtime::Communicator& ranks_;
  const Problem& problem_;
  Part part_;
  NextRow next_row_;
  int threads_;
  std::size_t pitch_;
  std::vector<unsigned char> kinds_;  ///< of all rows with ghosts
  std::optional<Place> trouble_;
};

}  // namespace fabricmark::stencil
