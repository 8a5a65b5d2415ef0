#pragma once

#include <vector>

#include "benchmarks/hpl/gmres.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::hpl {

/// HPL accepts a scaled residual below this.
inline constexpr double kHplThreshold = 16;

/// The largest |x - 1| of a right solution, in epsilon. A + E = L U is solved exactly but for rounding in
/// double precision, and the rows of E are small beside the diagonal: their diagonal element by a relative
/// error as probe_threshold allows it, the others' sum by far less. ||A^-1|| is at most twice that of the
/// diagonal alone, as the elements beside it add up to half of it. Then as much again for the safety of all.
double forward_threshold(std::size_t size);

/// What is checked: the solution x, which should be ones, of a system whose right side is the sum of each
/// row; eps of the precision that x is promised in; a word that begins the verdicts' names.
struct Solution {
  std::span<const double> x;
  double epsilon = 0;
  std::string prefix{};
  double most_forward = 0;  ///< allowed forward error in epsilon; 0: forward_threshold
};

/// Three verdicts. "residual" is the source's (Meyer 2024, section 4.1.3): ||x - 1|| / (eps n ||b||).
/// Its text prints ||x||, and what its program computes is the distance from ones, which the norm of b makes
/// small: in float, x = 0 passes from n = 4096 on. It is here for comparison with published values. "scaled
/// residual" is HPL's, and "forward error" the largest |x - 1|. Collective.
std::vector<runtime::Verdict> check_solution(const Vectors& vectors, const System& system,
                                             const Solution& solution);

}  // namespace fabricmark::hpl
