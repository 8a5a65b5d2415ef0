#include <array>
#include <functional>
#include <set>

#include "benchmarks/gemm/inputs.hpp"
#include "device/element.hpp"
#include "support.hpp"

namespace fabricmark::gemm {

namespace {

struct Type {
  const char* name;
  int value_bits;
  int input_bits;
};
constexpr Type kFloat{"float", 24, 24};
constexpr Type kDouble{"double", 53, 53};
constexpr Type kHalf{"half", 11, 11};
constexpr Type kMixed{"mixed", 24, 11};
constexpr std::array kTypes{kFloat, kDouble, kHalf, kMixed};

Inputs inputs_of(const Type& type, std::size_t size, int repetition = 0, int rank = 0) {
  return Inputs({.size = size,
                 .value_bits = type.value_bits,
                 .input_bits = type.input_bits,
                 .rank = rank,
                 .repetition = repetition});
}

TEST(ExactInputs, KeepEverySumOfProductsExactInTheType) {
  for (const Type& type : kTypes) {
    for (const std::size_t size : {1, 2, 3, 8, 16, 65, 500, 2048}) {
      const Inputs inputs = inputs_of(type, size);
      const double range = std::ldexp(1.0, type.value_bits);
      EXPECT_LT(inputs.largest_sum(), range);
      for (std::size_t row = 0; row < std::min<std::size_t>(size, 20); ++row) {
        for (std::size_t column = 0; column < std::min<std::size_t>(size, 20); ++column) {
          double sum = 0;
          for (std::size_t k = 0; k < size; ++k) {
            const double left = inputs.a(row, k);
            const double right = inputs.b(k, column);
            ASSERT_EQ(left, std::floor(left));
            ASSERT_EQ(right, std::floor(right));
            ASSERT_GE(std::min(left, right), 0);
            sum += left * right;
          }
          ASSERT_LE(sum, inputs.largest_sum()) << type.name << ", size " << size;
          const double addend = -inputs.c(row, column);  // odd, and as long as a sum can be
          ASSERT_GE(addend, range / 2);
          ASSERT_LT(addend, range * 3 / 4);
          ASSERT_EQ(std::fmod(addend, 2), 1);
        }
      }
    }
  }
}

TEST(ExactInputs, AreHeldByTheTypeOfTheInputs) {
  for (const Type& type : {kHalf, kMixed}) {
    const Inputs inputs = inputs_of(type, 300);
    for (std::size_t i = 0; i < 300; ++i) {
      for (std::size_t j = 0; j < 300; ++j) {
        ASSERT_EQ(static_cast<double>(device::Half(inputs.a(i, j))), inputs.a(i, j)) << type.name;
        ASSERT_EQ(static_cast<double>(device::Half(inputs.b(i, j))), inputs.b(i, j)) << type.name;
      }
    }
  }
}

// Arithmetic with fewer digits
// --------------------------------------------------------------------------------

/// The number with `bits` significant digits that is nearest to `value` (Veltkamp); of 53 bits the value.
double rounded(double value, int bits) {
  if (bits >= 53) return value;
  const double scaled = value * (std::ldexp(1.0, 53 - bits) + 1);
  return scaled - (scaled - value);
}

/// Sums of products in an arithmetic of `bits` digits, each in its own way.
struct Arithmetic {
  const char* name;
  std::function<double(double sum, double left, double right, int bits)> add;
};
const std::array<Arithmetic, 4> kArithmetics{{
    {"inputs of fewer digits", [](double sum, double left, double right,
                                  int bits) { return sum + rounded(left, bits) * rounded(right, bits); }},
    {"sums of fewer digits",
     [](double sum, double left, double right, int bits) { return rounded(sum + left * right, bits); }},
    {"products of fewer digits",
     [](double sum, double left, double right, int bits) { return sum + rounded(left * right, bits); }},
    // As with three products of TF32 or bfloat16 numbers: the product of the lower parts is left out.
    {"two parts of fewer digits each",
     [](double sum, double left, double right, int bits) {
       const double left_high = rounded(left, bits);
       const double right_high = rounded(right, bits);
       const double left_low = rounded(left - left_high, bits);
       const double right_low = rounded(right - right_high, bits);
       return sum + left_high * right_high + left_high * right_low + left_low * right_high;
     }},
}};

/// The most digits with which each arithmetic is not the type's own.
std::array<int, 4> most_bits(const Type& type) {
  return {type.input_bits - 1, type.value_bits - 1, std::min(type.value_bits, 2 * type.input_bits) - 1,
          std::min(type.value_bits / 2, type.input_bits) - 1};
}

/// A few rows of A and columns of B, spread over the matrices.
struct Sample {
  std::vector<std::vector<double>> rows, columns;

  Sample(const Inputs& inputs, std::size_t size, std::size_t side) {
    for (std::size_t i = 0; i < side; ++i) {
      const std::size_t line = i * (size - 1) / (side - 1);
      rows.emplace_back(size);
      columns.emplace_back(size);
      for (std::size_t k = 0; k < size; ++k) {
        rows.back()[k] = inputs.a(line, k);
        columns.back()[k] = inputs.b(k, line);
      }
    }
  }

  /// How many elements of the product are wrong in this arithmetic.
  [[nodiscard]] std::size_t count_wrong(const Arithmetic& arithmetic, int bits) const {
    std::size_t wrong = 0;
    for (const std::vector<double>& row : rows) {
      for (const std::vector<double>& column : columns) {
        double right = 0;
        double found = 0;
        for (std::size_t k = 0; k < row.size(); ++k) {
          right += row[k] * column[k];
          found = arithmetic.add(found, row[k], column[k], bits);
        }
        wrong += found == right ? 0 : 1;
      }
    }
    return wrong;
  }
};

class FewerDigits : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, FewerDigits, testing::Values(512, 1024, 2048, 4096, 16384));

TEST_P(FewerDigits, ThanTheTypesShowInASmallPartOfTheResult) {
  for (const Type& type : {kFloat, kDouble, kMixed, kHalf}) {
    const Sample sample(inputs_of(type, GetParam(), 3), GetParam(), GetParam() > 4096 ? 5 : 6);
    for (std::size_t i = 0; i < kArithmetics.size(); ++i) {
      const int step = GetParam() > 4096 && type.value_bits > 24 ? 3 : 1;
      for (int bits = most_bits(type)[i]; bits >= 3; bits -= step) {
        EXPECT_GE(sample.count_wrong(kArithmetics[i], bits), 2U)
            << kArithmetics[i].name << ": " << bits << " for " << type.name;
      }
      EXPECT_EQ(sample.count_wrong(kArithmetics[i], type.value_bits), 0U)
          << kArithmetics[i].name << ": all digits for " << type.name;
    }
  }
}

// ------------------------------------------------------------------------------------------------------------

TEST(ExactInputs, AreWideInEveryRowAndColumnAndStepOfTheDepth) {
  constexpr std::size_t kSize = 1024;
  for (const Type& type : {kFloat, kDouble}) {
    const Inputs inputs = inputs_of(type, kSize);
    const double wide = std::ldexp(1.0, type.value_bits - 1);
    std::size_t rows = 0;
    std::set<std::size_t> blocks;
    for (std::size_t i = 0; i < kSize; ++i) {
      bool is_wide = false;
      for (std::size_t k = 0; k < kSize; ++k) {
        if (inputs.a(i, k) < wide) continue;
        is_wide = true;
        blocks.insert(k / 64);
      }
      rows += is_wide ? 1 : 0;
    }
    EXPECT_EQ(blocks.size(), kSize / 64);
    EXPECT_NEAR(static_cast<double>(rows), kSize / 2.0, 100);
  }
}

TEST(ExactInputs, MakeDifferentProductsInEveryPlaceRankAndRepetition) {
  for (const Type& type : kTypes) {
    constexpr std::size_t kSize = 64;
    const Inputs inputs = inputs_of(type, kSize);
    for (const Inputs& others :
         {inputs_of(type, kSize, 0, 1), inputs_of(type, kSize, 1, 0), inputs_of(type, kSize, -1, 0)}) {
      std::array<int, 4> equal{};  // to the transposed, and to those of the others
      for (std::size_t i = 0; i < kSize; ++i) {
        for (std::size_t j = 0; j < kSize; ++j) {
          equal[0] += i != j && inputs.a(i, j) == inputs.a(j, i) ? 1 : 0;
          equal[1] += inputs.a(i, j) == others.a(i, j) ? 1 : 0;
          equal[2] += inputs.b(i, j) == others.b(i, j) ? 1 : 0;
          equal[3] += inputs.c(i, j) == others.c(i, j) ? 1 : 0;
        }
      }
      for (const int count : equal) EXPECT_LT(count, static_cast<int>(kSize * kSize * 3 / 4)) << type.name;
    }
  }
}

TEST(Inputs, AreTheSameRowByRow) {
  for (const bool is_exact : {true, false}) {
    for (const std::size_t size : {1, 7, 8, 65, 130}) {
      const Inputs inputs({.is_exact = is_exact, .size = size, .rank = 2, .repetition = -3});
      std::vector<float> row(size);
      for (std::size_t i = 0; i < size; ++i) {
        inputs.fill_row(Inputs::kA, i, row.data());
        for (std::size_t j = 0; j < size; ++j) ASSERT_EQ(row[j], static_cast<float>(inputs.a(i, j)));
        inputs.fill_row(Inputs::kB, i, row.data());
        for (std::size_t j = 0; j < size; ++j) ASSERT_EQ(row[j], static_cast<float>(inputs.b(i, j)));
        inputs.fill_row(Inputs::kC, i, row.data());
        for (std::size_t j = 0; j < size; ++j) ASSERT_EQ(row[j], static_cast<float>(inputs.c(i, j)));
      }
    }
  }
}

TEST(RandomInputs, AreFromMinusOneToOneWithTheVarianceThatTheCheckCountsOn) {
  const Inputs inputs({.is_exact = false, .size = 100, .rank = 3});
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t j = 0; j < 100; ++j) {
      for (const double value : {inputs.a(i, j), inputs.b(i, j), inputs.c(i, j)}) {
        ASSERT_GE(value, -1);
        ASSERT_LT(value, 1);
        sum += value;
        squares += value * value;
      }
    }
  }
  EXPECT_NEAR(sum / 30000, 0, 0.02);
  EXPECT_NEAR(squares / 30000, Inputs::kRandomVariance, 0.01);
}

}  // namespace

}  // namespace fabricmark::gemm
