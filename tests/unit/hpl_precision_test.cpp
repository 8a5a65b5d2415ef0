// Products of fewer digits than the type's are found, and right factors are not taken for such.
#include "benchmarks/hpl/probes.hpp"
#include "hpl_support.hpp"

namespace fabricmark::hpl {

namespace {

/// The verdict of that name with the largest error of all ranks.
template <typename T>
runtime::Verdict worst(const Factored<T>& whole, const std::string& name, int repetition = 0,
                       std::size_t groups = Probes<T>::kQuick, const Shape& shape = {1, 1, 32}) {
  std::vector<runtime::Verdict> all(shape.rows * shape.columns);
  on_ranks(shape, whole.size(), [&](const Vectors& vectors) {
    const std::vector<T> factors = whole.factors(vectors.layout());
    for (const runtime::Verdict& verdict : Probes<T>(vectors, factors.data(), repetition).check(groups)) {
      if (verdict.name == name) all[static_cast<std::size_t>(vectors.layout().rank)] = verdict;
    }
  });
  runtime::Verdict sum = *std::ranges::max_element(all, {}, &runtime::Verdict::error);
  sum.checked = 0;
  for (const runtime::Verdict& verdict : all) sum.checked += verdict.checked;
  return sum;
}

TEST(HplSamples, AreSpreadEvenlyAndOthersInEachRepetition) {
  for (const std::size_t size : {1U, 5U, 64U, 65U, 1000U}) {
    const Samples samples(size, 7);
    ASSERT_EQ(samples.count(), std::min<std::size_t>(size, 64));
    for (std::size_t number = 0; number < samples.count(); ++number) {
      const std::size_t column = samples.column(number);
      EXPECT_EQ(samples.number(column), number);
      EXPECT_GE(column, number * size / samples.count());
      EXPECT_LT(column, (number + 1) * size / samples.count()) << "each in its own part";
    }
  }
  EXPECT_FALSE(Samples(1000, 0).number(1000));
  int same = 0;
  for (std::size_t number = 0; number < 64; ++number) {
    same += Samples(100000, 0).column(number) == Samples(100000, 1).column(number) ? 1 : 0;
  }
  EXPECT_LT(same, 3);
}

template <typename T>
class HplPrecision : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(HplPrecision, Types);

TYPED_TEST(HplPrecision, PassesFactorsThatAreRoundedOftenWithRoom) {
  for (const std::size_t size : {2U, 3U, 16U, 61U, 200U, 600U}) {
    for (const int repetition : {0, 1}) {
      const Factored<TypeParam> whole(size, {}, repetition);
      const runtime::Verdict found = worst(whole, "precision", repetition);
      EXPECT_LT(found.error, 0.8 * found.threshold) << "n = " << size;
      EXPECT_TRUE(found.checked > 0 || size < 16) << size;
    }
  }
}

TYPED_TEST(HplPrecision, PassesFactorsOfRanksThatHaveTheLastRowsAlone) {
  for (const std::size_t size : {256U, 384U, 512U}) {
    const Factored<TypeParam> whole(size);
    for (const Shape& shape : {Shape{1, 2, 128}, {2, 2, 128}, {1, 4, 64}, {1, 2, 256}}) {
      const runtime::Verdict found = worst(whole, "precision", 0, Probes<TypeParam>::kQuick, shape);
      EXPECT_TRUE(found.passed()) << "n = " << size << ", " << shape << ": " << found.error;
    }
  }
}

TYPED_TEST(HplPrecision, FindsProductsOfFewerDigits) {
  constexpr int kDigits = std::numeric_limits<TypeParam>::digits;
  for (const std::size_t size : {61U, 200U, 600U}) {
    // Of float: 18, 16 and 14 digits, TF32 and half, bfloat16.
    for (const int fewer : {6, 8, 10, 13, 16}) {
      if (size < 600 && fewer < 8) continue;
      const runtime::Verdict found = worst(Factored<TypeParam>(size, {kDigits - fewer}), "precision");
      EXPECT_FALSE(found.passed()) << kDigits - fewer << " digits, n = " << size << ": " << found.error;
    }
  }
}

TYPED_TEST(HplPrecision, FindsAFewProductsOfFewerDigitsOnEveryGrid) {
  constexpr std::size_t kSize = 600;
  const Digits of_one_panel{std::numeric_limits<TypeParam>::digits - 13, 320, 352};
  const Factored<TypeParam> whole(kSize, of_one_panel);
  for (const Shape& shape : {Shape{1, 1, 32}, {2, 2, 32}, {1, 3, 100}}) {
    const runtime::Verdict found = worst(whole, "precision", 0, Probes<TypeParam>::kQuick, shape);
    EXPECT_FALSE(found.passed()) << shape << ": " << found.error;
    EXPECT_TRUE(found.worst) << "a band of rows or a column";
  }
}

TYPED_TEST(HplPrecision, AFactorisationOfAnotherRepetitionIsFoundQuickly) {
  constexpr std::size_t kSize = 600;
  for (const char* name : {"factors", "diagonal of U", "precision"}) {
    EXPECT_FALSE(worst(Factored<TypeParam>(kSize, {}, 1), name, 2).passed()) << name;
  }
}

TYPED_TEST(HplPrecision, AQuickCheckSeesEveryWrongElementThatMatters) {
  constexpr std::size_t kSize = 600;
  const Factored<TypeParam> right(kSize);
  EXPECT_TRUE(worst(right, "factors").passed());
  for (const auto& [row, column] : {std::pair{5U, 599U}, {599U, 5U}, {300U, 299U}, {37U, 69U}}) {
    for (const TypeParam factor :
         {TypeParam{0}, static_cast<TypeParam>(1.01), std::numeric_limits<TypeParam>::quiet_NaN()}) {
      Factored<TypeParam> whole = right;
      whole.factor(row, column) *= factor;
      EXPECT_FALSE(worst(whole, "factors").passed()) << row << ", " << column << " times " << factor;
    }
  }
}

}  // namespace

}  // namespace fabricmark::hpl
