#include <cmath>
#include <set>

#include "benchmarks/hpl/faults.hpp"
#include "benchmarks/hpl/matrix.hpp"
#include "hpl_support.hpp"

namespace fabricmark::hpl {

namespace {

TEST(HplInputs, AreDiagonallyDominantAndDifferentInEveryPlace) {
  for (const std::size_t size : {1U, 2U, 3U, 5U, 50U, 300U}) {
    const Inputs inputs(size, static_cast<int>(size) - 2);
    const auto stretch = static_cast<double>(inputs.stretch());
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double beside = 0;
      for (std::size_t j = 0; j < size; ++j) {
        if (i == j) continue;
        const double element = inputs(i, j);
        ASSERT_LE(std::abs(element), 0.5 * stretch);
        beside += std::abs(element);
        if (std::abs(element) > Inputs::kOrdinary) continue;
        ASSERT_NE(element, inputs(j, i));
        ASSERT_NE(element, inputs(i, j + 1 == i ? j + 2 : j + 1));
        ++count;
        sum += element;
        squares += element * element;
      }
      ASSERT_GT(inputs(i, i), beside);
      ASSERT_GE(inputs(i, i), static_cast<double>(size));
      ASSERT_LE(inputs(i, i), 2 * (static_cast<double>(size) + stretch));
    }
    if (size < 50) continue;
    EXPECT_NEAR(sum / count, 0, 0.01);
    EXPECT_NEAR(squares / count, 1.0 / 12, 0.01);
  }
}

TEST(HplInputs, HaveOneLargeElementInEachPartOfARow) {
  constexpr std::size_t kSize = 2048;
  const Inputs inputs(kSize, 3);
  ASSERT_EQ(inputs.stretch(), 128U) << "about 2.8 sqrt(n)";
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t part = 0; part < kSize / 128; ++part) {
      std::size_t large = 0;
      for (std::size_t j = 128 * part; j < 128 * (part + 1); ++j) {
        if (i == j || std::abs(inputs(i, j)) <= Inputs::kOrdinary) continue;
        ++large;
        places.insert(j % 128);
      }
      EXPECT_LE(large, 1U) << "the diagonal may have its place, and it may be small itself";
    }
  }
  EXPECT_GT(places.size(), 60U);
}

TEST(HplInputs, AreOthersInEachRepetition) {
  for (const auto& [one, other] : {std::pair{0, 1}, {1, 2}, {-1, 0}}) {
    const Inputs first(40, one);
    const Inputs second(40, other);
    for (std::size_t i = 0; i < 40; ++i) {
      for (std::size_t j = 0; j < 40; ++j) EXPECT_NE(first(i, j), second(i, j));
    }
  }
}

TEST(HplInputs, AreTheSameOneByOneAndInRows) {
  for (const std::size_t size : {7U, 100U, 1000U}) {
    const Inputs::Row row = Inputs(size, 1).row(size / 2);
    for (const auto& [first, count] : {std::pair{0U, 7U}, {3U, 1U}, {5U, 0U}, {6U, 1U}}) {
      std::vector<double> elements(count);
      row.off_diagonals(first, count, elements.data());
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(elements[i], row.off_diagonal(first + i));
    }
    std::vector<double> all(size);
    row.off_diagonals(0, size, all.data());
    for (std::size_t j = 0; j < size; ++j) EXPECT_EQ(all[j], row.off_diagonal(j));
  }
}

TEST(HplInputs, UseAllDigitsOfDouble) {
  const Inputs inputs(64);
  int rounded = 0;
  for (std::size_t j = 1; j < 64; ++j) {
    rounded += static_cast<double>(static_cast<float>(inputs(0, j))) != inputs(0, j) ? 1 : 0;
  }
  EXPECT_GT(rounded, 60);
}

TEST(HplLocal, CountsColumnsAndFindsRuns) {
  for (const Shape& shape : shapes()) {
    constexpr std::size_t kSize = 61;
    on_ranks(shape, kSize, [&](const Vectors& vectors) {
      const Layout& layout = vectors.layout();
      for (std::size_t column = 0; column <= kSize; ++column) {
        std::size_t below = 0;
        for (std::size_t c = 0; c < layout.local_columns(); ++c)
          below += layout.global_column(c) < column ? 1 : 0;
        EXPECT_EQ(columns_below(layout, column), below) << shape << ", column " << column;
      }
      std::size_t next = 1;
      for_each_run(layout, 1, real_columns(layout), [&](const auto& run) {
        EXPECT_EQ(run.local, next);
        for (std::size_t i = 0; i < run.count; ++i) EXPECT_EQ(layout.global_column(next++), run.global + i);
      });
      EXPECT_EQ(next, std::max<std::size_t>(real_columns(layout), 1));
    });
  }
}

TEST(HplVectors, AddRowsAndPutThemWhereTheColumnsAre) {
  for (const Shape& shape : shapes()) {
    constexpr std::size_t kSize = 61;
    constexpr std::size_t kWidth = 3;
    on_ranks(shape, kSize, [&](const Vectors& vectors) {
      const Layout& layout = vectors.layout();
      std::vector<double> values;
      for (std::size_t r = 0; r < layout.local_rows(); ++r) {
        for (std::size_t i = 0; i < kWidth; ++i) {
          values.push_back(
              static_cast<double>((layout.global_row(r) * kWidth + i) * (1 + layout.grid_column())));
        }
      }
      const std::vector<double> sums = vectors.rows_to_columns(values, kWidth);
      ASSERT_EQ(sums.size(), layout.local_columns() * kWidth);
      const auto q = static_cast<double>(layout.grid.columns);
      for (std::size_t c = 0; c < layout.local_columns(); ++c) {
        for (std::size_t i = 0; i < kWidth; ++i) {
          const auto place = static_cast<double>(layout.global_column(c) * kWidth + i);
          EXPECT_EQ(sums[c * kWidth + i], place * q * (q + 1) / 2) << shape;
        }
      }
    });
  }
}

TEST(HplVectors, MultiplyAndFindTheLargestOverAllRanks) {
  for (const Shape& shape : shapes()) {
    constexpr std::size_t kSize = 61;
    on_ranks(shape, kSize, [&](const Vectors& vectors) {
      const Layout& layout = vectors.layout();
      std::vector<double> left(layout.local_columns());
      std::vector<double> right(layout.local_columns());
      for (std::size_t c = 0; c < real_columns(layout); ++c) {
        left[c] = static_cast<double>(layout.global_column(c));
        right[c] = layout.global_column(c) % 2 == 0 ? -2 : 0;
      }
      EXPECT_EQ(vectors.dot(left, right), -2 * 2 * 30 * 31 / 2) << shape;
      EXPECT_EQ(vectors.largest(left), 60);
      EXPECT_EQ(vectors.largest(right), 2);
      if (layout.rank == 0) left[0] = std::nan("");
      EXPECT_EQ(vectors.largest(left), std::numeric_limits<double>::infinity());
    });
  }
}

template <typename T>
class HplMatrix : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(HplMatrix, Types);

TYPED_TEST(HplMatrix, IsFilledAndMultipliedOverAnyGrid) {
  constexpr std::size_t kSize = 61;
  const Factored<TypeParam> whole(kSize);
  for (const Shape& shape : shapes()) {
    on_ranks(shape, kSize, [&](const Vectors& vectors) {
      const Layout& layout = vectors.layout();
      const Matrix<TypeParam> matrix(vectors);
      std::vector<TypeParam> values(layout.elements(), TypeParam{-1});
      matrix.fill(values.data());
      EXPECT_EQ(values, whole.matrix(layout)) << shape;

      std::vector<double> x(layout.local_columns(), std::nan(""));
      for (std::size_t c = 0; c < real_columns(layout); ++c) x[c] = std::sin(layout.global_column(c));
      const std::vector<double> product = matrix.multiply(x);
      const std::vector<double> stored = matrix.multiply_stored(values.data(), x);
      const RowSums sums = matrix.row_sums(values.data());
      const Inputs inputs(kSize);
      for (std::size_t c = 0; c < real_columns(layout); ++c) {
        const std::size_t row = layout.global_column(c);
        double expected = 0;
        double absolute = 0;
        double plain = 0;
        for (std::size_t j = 0; j < kSize; ++j) {
          const auto element = static_cast<double>(static_cast<TypeParam>(inputs(row, j)));
          expected += element * std::sin(j);
          absolute += std::abs(element);
          plain += element;
        }
        EXPECT_NEAR(product[c], expected, 1e-13 * absolute) << shape;
        EXPECT_NEAR(stored[c], expected, 1e-13 * absolute) << shape;
        EXPECT_NEAR(sums.absolute[c], absolute, 1e-13 * absolute);
        EXPECT_NEAR(sums.plain[c], plain, 1e-13 * absolute);
      }
      for (std::size_t c = real_columns(layout); c < layout.local_columns(); ++c) EXPECT_EQ(product[c], 0);
    });
  }
}

}  // namespace

}  // namespace fabricmark::hpl
