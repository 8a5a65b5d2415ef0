#include <cmath>

#include "benchmarks/hpl/matrix.hpp"
#include "benchmarks/hpl/solution.hpp"
#include "benchmarks/hpl/triangular.hpp"
#include "hpl_support.hpp"

namespace fabricmark::hpl {

namespace {

template <typename T>
System system_of(const Vectors& vectors, const Matrix<T>& matrix) {
  const std::vector<double> ones(vectors.layout().local_columns(), 1);
  System system{.multiply = [&](std::span<const double> x) { return matrix.multiply(x); }};
  system.right_side = matrix.multiply(ones);
  std::vector<T> values(vectors.layout().elements());
  matrix.fill(values.data());
  system.norm = vectors.largest(matrix.row_sums(values.data()).absolute);
  return system;
}

std::map<std::string, runtime::Verdict> by_name(const std::vector<runtime::Verdict>& verdicts) {
  std::map<std::string, runtime::Verdict> named;
  for (const runtime::Verdict& verdict : verdicts) named[verdict.name] = verdict;
  return named;
}

template <typename T>
class HplSolve : public testing::Test {
 protected:
  static constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(HplSolve, Types);

TYPED_TEST(HplSolve, FindsOnesOnAnyGrid) {
  for (const std::size_t size : {16U, 61U}) {
    const Factored<TypeParam> whole(size);
    for (const Shape& shape : shapes()) {
      if ((size + shape.block - 1) / shape.block < std::max(shape.rows, shape.columns)) continue;
      on_ranks(shape, size, [&](const Vectors& vectors) {
        const Matrix<TypeParam> matrix(vectors);
        const System system = system_of(vectors, matrix);
        const std::vector<TypeParam> factors = whole.factors(vectors.layout());
        std::vector<double> x = system.right_side;
        TriangularSolver<TypeParam>(vectors, factors.data()).solve(x);
        for (const runtime::Verdict& verdict : check_solution(vectors, system, {x, this->kEpsilon})) {
          EXPECT_TRUE(verdict.passed()) << shape << ", " << verdict.name << ": " << verdict.error;
          EXPECT_EQ(verdict.checked, real_columns(vectors.layout()));
        }
      });
    }
  }
}

TYPED_TEST(HplSolve, IsWrongWhenAnyFactorIsFarOff) {
  constexpr std::size_t kSize = 61;
  const Shape shape{2, 3, 7};
  // One place in each block of the matrix, so that a block that is never read shows.
  for (std::size_t i = 3; i < kSize; i += 7) {
    for (std::size_t j = 5; j < kSize; j += 7) {
      Factored<TypeParam> whole(kSize);
      whole.factor(i, j) += TypeParam{1};
      on_ranks(shape, kSize, [&](const Vectors& vectors) {
        const Matrix<TypeParam> matrix(vectors);
        const System system = system_of(vectors, matrix);
        const std::vector<TypeParam> factors = whole.factors(vectors.layout());
        std::vector<double> x = system.right_side;
        TriangularSolver<TypeParam>(vectors, factors.data()).solve(x);
        for (double& value : x) value -= 1;
        EXPECT_GT(vectors.largest(std::span(x).first(real_columns(vectors.layout()))), 1e-3)
            << i << ", " << j;
      });
    }
  }
}

/// The verdicts of a solution of zeros, for which no system has to be solved.
std::map<std::string, runtime::Verdict> verdicts_of_zeros(std::size_t size) {
  std::map<std::string, runtime::Verdict> named;
  on_ranks({1, 1, 64}, size, [&](const Vectors& vectors) {
    const Matrix<float> matrix(vectors);
    const std::vector<double> zeros(vectors.layout().local_columns());
    const System system = system_of(vectors, matrix);
    named = by_name(check_solution(vectors, system, {zeros, std::numeric_limits<float>::epsilon()}));
  });
  return named;
}

TEST(HplSolution, OfZerosPassesTheSourcesResidualAndNoOther) {
  std::map<std::string, runtime::Verdict> named = verdicts_of_zeros(4096);
  EXPECT_TRUE(named.at("residual").passed()) << named.at("residual").error;
  EXPECT_FALSE(named.at("scaled residual").passed());
  EXPECT_FALSE(named.at("forward error").passed());
  EXPECT_EQ(named.at("forward error").worst->actual, 0);
  EXPECT_FALSE(verdicts_of_zeros(1024).at("residual").passed()) << "it grows blind with n";
}

TEST(HplSolution, WithOneNumberMissingIsFound) {
  on_ranks({1, 2, 8}, 61, [&](const Vectors& vectors) {
    const Matrix<double> matrix(vectors);
    const System system = system_of(vectors, matrix);
    std::vector<double> x(vectors.layout().local_columns(), 1);
    if (vectors.layout().rank == 1) x[3] = std::nan("");
    const auto named = by_name(check_solution(vectors, system, {x, 1e-16, "refined "}));
    EXPECT_EQ(named.at("refined forward error").passed(), vectors.layout().rank == 0);
    EXPECT_EQ(named.at("refined residual").passed(), vectors.layout().rank == 0);
    EXPECT_FALSE(named.at("refined scaled residual").passed());
  });
}

TEST(HplRefinement, ReachesDoubleAccuracyFromFloatFactors) {
  for (const std::size_t size : {1U, 16U, 61U, 300U}) {
    const Factored<float> whole(size);
    for (const Shape& shape : {Shape{1, 1, 8}, Shape{1, 2, 8}, Shape{2, 3, 7}, Shape{3, 3, 4}}) {
      if (size == 1 && shape.columns > 1) continue;
      on_ranks(shape, size, [&](const Vectors& vectors) {
        constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
        const Matrix<double> matrix(vectors);
        System system = system_of(vectors, matrix);
        const std::vector<float> factors = whole.factors(vectors.layout());
        const TriangularSolver<float> solver(vectors, factors.data());
        system.precondition = [&](std::span<double> v) { solver.solve(v); };
        std::vector<double> x = system.right_side;
        solver.solve(x);
        const auto before = by_name(check_solution(vectors, system, {x, kEpsilon}));
        EXPECT_TRUE(size < 100 || !before.at("forward error").passed()) << "nothing to refine";
        const Refinement refinement = refine(vectors, system, x);
        EXPECT_LE(refinement.iterations, 4);
        EXPECT_LE(refinement.norms.scaled(kEpsilon, size), 1.0 / static_cast<double>(size));
        for (const runtime::Verdict& verdict : check_solution(vectors, system, {x, kEpsilon})) {
          EXPECT_TRUE(verdict.passed()) << verdict.name << ": " << verdict.error << ", n = " << size;
        }
      });
    }
  }
}

TEST(HplRefinement, ConvergesByItsKrylovSpaceWhereTheFactorsAreRough) {
  // A preconditioner that only knows the diagonal: plain iteration gains a digit or so in each step.
  on_ranks({2, 2, 8}, 100, [&](const Vectors& vectors) {
    const Matrix<double> matrix(vectors);
    System system = system_of(vectors, matrix);
    system.precondition = [&](std::span<double> v) {
      for (std::size_t c = 0; c < real_columns(vectors.layout()); ++c) {
        v[c] /= matrix.diagonal(vectors.layout().global_column(c));
      }
    };
    std::vector<double> x(vectors.layout().local_columns());
    const Refinement refinement = refine(vectors, system, x);
    EXPECT_GT(refinement.iterations, 5);
    EXPECT_LE(refinement.iterations, kMostIterations);
    EXPECT_LE(refinement.norms.scaled(std::numeric_limits<double>::epsilon(), 100), 0.01);
  });
}

TEST(HplRefinement, EndsWithoutSuccessWhereThereIsNone) {
  for (const double factor : {0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    on_ranks({1, 2, 8}, 61, [&](const Vectors& vectors) {
      const Matrix<double> matrix(vectors);
      System system = system_of(vectors, matrix);
      system.precondition = [&](std::span<double> v) {
        for (double& value : v) value *= factor;
      };
      std::vector<double> x(vectors.layout().local_columns());
      const Refinement refinement = refine(vectors, system, x);
      EXPECT_LE(refinement.iterations, kMostIterations);
      EXPECT_FALSE(check_solution(vectors, system, {x, 1e-16}).at(1).passed());
    });
  }
}

}  // namespace

}  // namespace fabricmark::hpl
