#include <tuple>

#include "benchmarks/gemm/inputs.hpp"
#include "support.hpp"

namespace fabricmark::gemm {

namespace {

struct Type {
  int value_bits;
  int input_bits;
};
constexpr Type kFloat{24, 24};
constexpr std::array kTypes{kFloat, Type{53, 53}, Type{11, 11}, Type{24, 11}};  // and double, half, mixed

TEST(ExactInputs, KeepEverySumOfProductsExactInTheType) {
  for (const Type& type : kTypes) {
    const double limit = std::ldexp(1.0, type.value_bits - 2);  // so that half of it is exact too
    for (const std::size_t size : {1, 2, 3, 16, 65, 500, 2048}) {
      const Inputs inputs(true, size, type.value_bits, type.input_bits, 0);
      for (std::size_t row = 0; row < std::min<std::size_t>(size, 20); ++row) {
        for (std::size_t column = 0; column < std::min<std::size_t>(size, 20); ++column) {
          double sum = 0;
          for (std::size_t k = 0; k < size; ++k) {
            const double left = inputs.a(row, k);
            const double right = inputs.b(k, column);
            ASSERT_EQ(left, std::floor(left));
            ASSERT_EQ(right, std::floor(right));
            ASSERT_GE(std::min(left, right), 0);
            ASSERT_LE(std::max(left, right), std::ldexp(1.0, type.input_bits));
            sum += left * right;
          }
          ASSERT_LE(sum, limit) << type.value_bits << " bits, size " << size;
          ASSERT_GT(inputs.c(row, column), 0);
          ASSERT_LE(inputs.c(row, column), limit / 4);
        }
      }
    }
  }
}

/// Digits from the first to the last of a whole number.
int digits(double value) {
  auto bits = static_cast<std::uint64_t>(value);
  while (bits != 0 && bits % 2 == 0) bits /= 2;
  int count = 0;
  for (; bits != 0; bits /= 2) ++count;
  return count;
}

TEST(ExactInputs, HaveAWideElementInEachRowOfAAndColumnOfB) {
  constexpr std::size_t kSize = 2048;
  // bfloat16 has 8 digits and TF32 11: neither holds the wide ones of float; float not those of double.
  for (const auto& [type, more_than] : {std::tuple{kFloat, 11}, std::tuple{Type{53, 53}, 24}}) {
    const Inputs inputs(true, kSize, type.value_bits, type.input_bits, 0);
    for (std::size_t line = 0; line < 50; ++line) {
      int in_a = 0;
      int in_b = 0;
      for (std::size_t k = 0; k < kSize; ++k) {
        const bool is_wide_a = digits(inputs.a(line, k)) > more_than;
        const bool is_wide_b = digits(inputs.b(k, line)) > more_than;
        in_a += is_wide_a ? 1 : 0;
        in_b += is_wide_b ? 1 : 0;
        EXPECT_FALSE(is_wide_a && k % 2 == 1);
        EXPECT_FALSE(is_wide_b && k % 2 == 0);
      }
      EXPECT_EQ(in_a, 1);
      EXPECT_EQ(in_b, 1);
    }
  }
}

TEST(ExactInputs, MakeDifferentProductsInEveryPlaceOfEveryRank) {
  for (const Type& type : kTypes) {
    constexpr std::size_t kSize = 64;
    const Inputs inputs(true, kSize, type.value_bits, type.input_bits, 0);
    const Inputs others(true, kSize, type.value_bits, type.input_bits, 1);
    int equal_to_transposed = 0;
    int equal_to_other_rank = 0;
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) {
        equal_to_transposed += i != j && inputs.a(i, j) == inputs.a(j, i) ? 1 : 0;
        equal_to_other_rank += inputs.a(i, j) == others.a(i, j) ? 1 : 0;
      }
    }
    EXPECT_LT(equal_to_transposed, static_cast<int>(kSize * kSize * 3 / 4));
    EXPECT_LT(equal_to_other_rank, static_cast<int>(kSize * kSize * 3 / 4));
  }
}

TEST(RandomInputs, AreFromAHalfToThreeHalves) {
  const Inputs inputs(false, 100, 24, 24, 3);
  double sum = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t j = 0; j < 100; ++j) {
      for (const double value : {inputs.a(i, j), inputs.b(i, j), inputs.c(i, j)}) {
        ASSERT_GE(value, 0.5);
        ASSERT_LT(value, 1.5);
        sum += value;
      }
    }
  }
  EXPECT_NEAR(sum / 30000, 1, 0.01);
}

}  // namespace

}  // namespace fabricmark::gemm
