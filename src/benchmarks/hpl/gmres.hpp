#pragma once

#include <functional>

#include "benchmarks/hpl/vectors.hpp"

namespace fabricmark::hpl {

/// A system A x = b and an approximate inverse M of A; vectors are divided as Vectors says.
struct System {
  std::function<std::vector<double>(std::span<const double>)> multiply{};  ///< A times a vector
  std::function<void(std::span<double>)> precondition{};                   ///< replaces v by M v
  std::vector<double> right_side{};
  double norm = 0;  ///< of A, the largest row sum of absolute values
};

/// HPL's scaled residual: ||A x - b|| / (eps (||A|| ||x|| + ||b||) n), in the largest norm.
struct ResidualNorms {
  double residual = 0;
  double matrix = 0;
  double solution = 0;
  double right_side = 0;
  [[nodiscard]] double scaled(double epsilon, std::size_t size) const {
    return residual / (epsilon * (matrix * solution + right_side) * static_cast<double>(size));
  }
};

struct Refinement {
  int iterations = 0;
  ResidualNorms norms;
};

/// What HPL-MxP allows (https://hpl-mxp.org).
inline constexpr int kMostIterations = 50;
/// Vectors of the Krylov space before it is started anew.
inline constexpr int kRestart = 10;

/// Improves x by restarted GMRES with the preconditioner on the left, in double precision, until the residual
/// is that of a backward stable solver, it stops shrinking, or all iterations are used up. Collective.
/// Source: Saad and Schultz (1986); the rules of HPL-MxP.
Refinement refine(const Vectors& vectors, const System& system, std::span<double> x);

/// b - A x and its norms.
ResidualNorms residual(const Vectors& vectors, const System& system, std::span<const double> x,
                       std::vector<double>& difference);

}  // namespace fabricmark::hpl
