#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fabric/engine/settings.hpp"
#include "microbench/collective/options.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::microbench {

/// What one size took, and whether its result is right.
struct Row {
  std::size_t bytes = 0;                 ///< of one rank's elements; 0: a barrier
  std::string algorithm;                 ///< of a collective
  std::string reason;                    ///< why that one
  std::vector<double> modelled_seconds;  ///< by rank, from the first call of any rank; 0: it had no call
  std::vector<double> wall_seconds;      ///< by rank, of the emulation
  std::size_t checked = 0;               ///< elements of all ranks
  std::size_t wrong = 0;
  struct Place {
    int rank = 0;
    std::size_t element = 0;
    double expected = 0;
    double actual = 0;
  };
  Place first_wrong{};

  /// Of the slowest rank.
  [[nodiscard]] double seconds() const;
  [[nodiscard]] double emulated_seconds() const;
};

/// The settings of `options` in place of the system's. Throws Error (bad use).
engine::Described described(const Options& options);

/// Collective: the same on every rank. Throws Error (1) where a call has failed.
Row measure(runtime::Communicator& ranks, const Options& options, const engine::Described& system,
            std::size_t bytes);

}  // namespace fabricmark::microbench
