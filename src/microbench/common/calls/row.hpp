#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "microbench/common/found.hpp"
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
  Found found{};                          ///< of all ranks

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
  Found found{};                       ///< of all repetitions
};

/// Collective: the same on every rank, without bytes and algorithm.
Row gathered(runtime::Communicator& ranks, const Told& told, bool is_modelled);

}  // namespace fabricmark::microbench
