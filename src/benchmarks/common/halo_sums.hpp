#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random_bits.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::common {

/// What both ends of the ways of halos made of all words since the start, where they were packed and where
/// they were used; equal on both where all came as they were sent.
struct HaloSums {
  std::vector<std::int32_t> neighbours;  ///< ranks
  std::vector<unsigned long long> sent;  ///< to each of them
  std::vector<unsigned long long> received;
  std::size_t words = 0;  ///< that come in a stage
  /// Of what nobody has added anything to, though messages went: a kernel that keeps no sums.
  std::size_t unchanged = 0;
};

/// What the marks of a message begin with: place by place, the same at both ends.
inline std::uint64_t first_mark(std::size_t place) { return mixed_bits((place + 1) * kRandomStep); }

/// Whether each rank used what its neighbours packed, word for word, in the whole run. Collective.
runtime::Verdict halo_verdict(runtime::Communicator& ranks, const HaloSums& own);

}  // namespace fabricmark::common
