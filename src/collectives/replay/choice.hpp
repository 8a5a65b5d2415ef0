#pragma once

#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/costs.hpp"

namespace fabricmark::collectives {

/// What does an operation, and why.
struct Choice {
  const Algorithm* algorithm = nullptr;
  double seconds = 0;    ///< that it is expected to take
  double mean = 0;       ///< of all ranks, some of which end sooner
  std::string reason{};  ///< in words, for the notes of a result
};

/// All that fit, the fastest first, replayed once: all ranks of a process ask for every call. Throws Error
/// (bad use) where there is none, and as check(Costs).
std::vector<Choice> fitting(const Problem& problem, const Costs& costs);

/// How ranks are wired, in words.
std::string text_of(const Shape& shape);

/// The algorithm that fits, has receive buffers enough and takes the least time, of two the first by name; or
/// the one of that name, whose messages may have to be sent again for want of them.
/// Throws Error (bad use) where none fits, where that one does not, with those that do, and as check(Costs).
Choice choose(const Problem& problem, const Costs& costs, const std::string& name = {});

}  // namespace fabricmark::collectives
