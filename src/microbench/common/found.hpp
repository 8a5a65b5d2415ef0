#pragma once

#include <cstddef>
#include <string>

#include "collectives/reference.hpp"
#include "runtime/communicator.hpp"
#include "runtime/result.hpp"

namespace fabricmark::microbench {

/// What was found wrong, of all that was checked.
struct Found {
  std::size_t checked = 0;  ///< elements
  std::size_t wrong = 0;
  std::string place;  ///< of the first wrong one
  double expected = 0;
  double actual = 0;
  int rank = 0;  ///< where it was found, of what all ranks have found

  /// One more comparison of this rank's.
  void add(const collectives::Comparison& one);
};

/// What all ranks have found; the place is that of the first rank with one. Collective: the same on every
/// rank.
Found gathered(runtime::Communicator& ranks, const Found& own);

/// On the elements of all sizes.
runtime::Result::RankVerdict element_verdict(std::string name);
/// Adds those of one size; `place`: of its first wrong one.
void add(runtime::Result::RankVerdict& verdict, const Found& found, const std::string& place);

}  // namespace fabricmark::microbench
