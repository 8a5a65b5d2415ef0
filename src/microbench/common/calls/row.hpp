#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/reference.hpp"
#include "runtime/communicator.hpp"
#include "runtime/result.hpp"

namespace fabricmark::microbench {

/// What one size took, and whether its result is right.
struct Row {
  std::size_t bytes = 0;  ///< of one rank's elements; 0: a barrier
  std::string algorithm;  ///< of a collective
  std::string reason;     ///< why that one
  /// By rank, from the first call of any rank; 0: it had no call. Empty where nothing is modelled.
  std::vector<double> modelled_seconds;
  runtime::Result::PerRank wall_seconds;  ///< of the call; of the emulation where it is modelled
  runtime::Result::PerRank starts;        ///< by the wall clock, as in a result; empty where nobody knows
  std::size_t checked = 0;                ///< elements of all ranks
  std::size_t wrong = 0;
  struct Place {
    int rank = 0;
    std::size_t element = 0;
    double expected = 0;
    double actual = 0;
  };
  Place first_wrong{};

  /// Of all ranks: modelled ones, else the best repetition by the wall clock.
  [[nodiscard]] double seconds() const;
  /// Of all ranks in each repetition, by the wall clock.
  [[nodiscard]] std::vector<double> spans() const { return runtime::spans(wall_seconds, starts); }
};

/// What a rank tells the others of itself.
struct Told {
  /// Modelled time; absent where the rank has nothing to do.
  std::optional<double> started{};
  std::optional<double> ended{};
  std::vector<double> wall_seconds{};  ///< by repetition
  collectives::Comparison found{};     ///< of all repetitions; the place is that of the first wrong one
};

/// Collective: the same on every rank, without bytes and algorithm.
Row gathered(runtime::Communicator& ranks, const Told& told, bool is_modelled);

}  // namespace fabricmark::microbench
