#include "benchmarks/hpl/gmres.hpp"

#include <cmath>
#include <limits>

namespace fabricmark::hpl {

namespace {

using Vector = std::vector<double>;

void add_scaled(std::span<double> sum, double factor, std::span<const double> vector) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * vector[i];
}

void scale(std::span<double> vector, double factor) {
  for (double& value : vector) value *= factor;
}

/// The least-squares problem of GMRES: its matrix, kept triangular by Givens rotations.
class LeastSquares {
 public:
  explicit LeastSquares(double right_side) : right_side_{right_side} {}

  /// Adds a column, whose last number is the norm of what is left of the new vector.
  void add(Vector column) {
    for (std::size_t i = 0; i < cosines_.size(); ++i)
      rotate(cosines_[i], sines_[i], column[i], column[i + 1]);
    const std::size_t last = cosines_.size();
    const double length = std::hypot(column[last], column[last + 1]);
    cosines_.push_back(length == 0 ? 1 : column[last] / length);
    sines_.push_back(length == 0 ? 0 : column[last + 1] / length);
    rotate(cosines_[last], sines_[last], column[last], column[last + 1]);
    right_side_.push_back(0);
    rotate(cosines_[last], sines_[last], right_side_[last], right_side_[last + 1]);
    columns_.push_back(std::move(column));
  }
  /// Norm of the preconditioned residual with the columns so far.
  [[nodiscard]] double left() const { return std::abs(right_side_.back()); }

  [[nodiscard]] Vector solution() const {
    Vector y(right_side_.begin(), right_side_.end() - 1);
    for (std::size_t i = y.size(); i-- > 0;) {
      for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= columns_[j][i] * y[j];
      y[i] /= columns_[i][i];
    }
    return y;
  }

 private:
  static void rotate(double cosine, double sine, double& upper, double& lower) {
    const double above = cosine * upper + sine * lower;
    lower = cosine * lower - sine * upper;
    upper = above;
  }

  std::vector<Vector> columns_;
  Vector cosines_;
  Vector sines_;
  Vector right_side_;
};

/// One Krylov space from the residual `start` on: adds the correction to x and returns its iterations.
int improve(const Vectors& vectors, const System& system, Vector start, double reduction, int most,
            std::span<double> x) {
  system.precondition(start);
  const double norm = std::sqrt(vectors.dot(start, start));
  if (!(norm > 0) || !std::isfinite(norm)) return 0;
  scale(start, 1 / norm);
  std::vector<Vector> basis{std::move(start)};
  LeastSquares problem(norm);
  int iterations = 0;
  while (iterations < std::min(most, kRestart)) {
    Vector next = system.multiply(basis.back());
    system.precondition(next);
    Vector column;
    for (const Vector& known : basis) {
      column.push_back(vectors.dot(known, next));
      add_scaled(next, -column.back(), known);
    }
    const double length = std::sqrt(vectors.dot(next, next));
    column.push_back(length);
    problem.add(std::move(column));
    ++iterations;
    if (!(problem.left() > reduction * norm) || length == 0) break;
    scale(next, 1 / length);
    basis.push_back(std::move(next));
  }
  const Vector weights = problem.solution();
  for (std::size_t i = 0; i < weights.size(); ++i) add_scaled(x, weights[i], basis[i]);
  return iterations;
}

}  // namespace

ResidualNorms residual(const Vectors& vectors, const System& system, std::span<const double> x,
                       std::vector<double>& difference) {
  difference = system.multiply(x);
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] = system.right_side[i] - difference[i];
  return {.residual = vectors.largest(difference),
          .matrix = system.norm,
          .solution = vectors.largest(x),
          .right_side = vectors.largest(system.right_side)};
}

Refinement refine(const Vectors& vectors, const System& system, std::span<double> x) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  // As small as rounding lets it be: eps (||A|| ||x|| + ||b||).
  const double target = 1 / static_cast<double>(vectors.layout().size);
  Refinement refinement;
  double before = std::numeric_limits<double>::infinity();
  while (true) {
    Vector difference;
    refinement.norms = residual(vectors, system, x, difference);
    const double scaled = refinement.norms.scaled(kEpsilon, vectors.layout().size);
    const bool is_stuck = !(scaled < before / 2);
    if (scaled <= target || is_stuck || refinement.iterations >= kMostIterations) return refinement;
    before = scaled;
    // Ten times smaller than needed: the norms differ.
    const double reduction = std::max(0.1 * target / scaled, kEpsilon);
    refinement.iterations += improve(vectors, system, std::move(difference), reduction,
                                     kMostIterations - refinement.iterations, x);
  }
}

}  // namespace fabricmark::hpl
