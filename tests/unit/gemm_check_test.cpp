#include "benchmarks/gemm/column_check.hpp"
#include "benchmarks/gemm/full_check.hpp"
#include "benchmarks/gemm/inputs.hpp"
#include "runtime/fault.hpp"
#include "support.hpp"

namespace fabricmark::gemm {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Out>
class GemmCheck : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 70;
  static constexpr std::size_t kStride = 75;
  static constexpr double kAlpha = 0.5;
  static constexpr double kBeta = 2;

  void SetUp() override {
    constexpr int kBits = std::is_same_v<Out, device::Half> ? 11 : std::numeric_limits<Out>::digits;
    const Inputs inputs({.size = kSize,
                         .value_bits = kBits,
                         .input_bits = kBits,
                         .c_scale = scale_of_c(kAlpha, kBeta, kBits)});
    for (auto* matrix : {&a_, &b_, &c_, &result_}) matrix->assign(kSize * kStride, static_cast<Out>(0.0));
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) {
        a_[i * kStride + j] = static_cast<Out>(inputs.a(i, j));
        b_[i * kStride + j] = static_cast<Out>(inputs.b(i, j));
        c_[i * kStride + j] = static_cast<Out>(inputs.c(i, j));
        double sum = 0;
        for (std::size_t k = 0; k < kSize; ++k) sum += inputs.a(i, k) * inputs.b(k, j);
        result_[i * kStride + j] = static_cast<Out>(kAlpha * sum + kBeta * inputs.c(i, j));
      }
    }
  }

  [[nodiscard]] Product<Out, Out> product(const std::vector<Out>& a) const {
    return {.size = kSize,
            .alpha = kAlpha,
            .beta = kBeta,
            .rounding = rounding_,
            .a = {a.data(), kStride},
            .b = {b_.data(), kStride},
            .c = {c_.data(), kStride},
            .result = {result_.data(), kStride}};
  }

  /// The rows of the result without the padding.
  [[nodiscard]] std::vector<Out> dense() const {
    std::vector<Out> values;
    for (std::size_t i = 0; i < kSize; ++i) {
      values.insert(values.end(), result_.begin() + i * kStride, result_.begin() + i * kStride + kSize);
    }
    return values;
  }
  void spread(const std::vector<Out>& values) {
    for (std::size_t i = 0; i < kSize; ++i) {
      std::copy_n(values.begin() + i * kSize, kSize, result_.begin() + i * kStride);
    }
  }

  /// The check of every repetition.
  [[nodiscard]] runtime::Verdict columns() const {
    const Product<Out, Out> checked = product(a_);
    return ColumnCheck<Out, Out>(checked, 17).verdict();
  }

  Rounding rounding_ = Rounding::kNone;
  std::vector<Out> a_, b_, c_, result_;
};

using Types = testing::Types<float, double, device::Half>;
TYPED_TEST_SUITE(GemmCheck, Types);

TYPED_TEST(GemmCheck, PassesARightResultWithoutAnyError) {
  const std::vector<runtime::Verdict> verdicts = check(this->product(this->a_));
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(verdicts[0].checked, this->kSize * this->kSize);
  EXPECT_EQ(verdicts[1].checked, this->kSize * kSpotRows);
  for (const runtime::Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.error, 0) << verdict.name;
    EXPECT_TRUE(verdict.passed());
  }
}

TYPED_TEST(GemmCheck, FindsEveryKindOfFault) {
  using Kind = runtime::Fault::Kind;
  const std::vector<TypeParam> right = this->dense();
  for (const Kind kind : {Kind::kElement, Kind::kScale, Kind::kZeros, Kind::kStale, Kind::kSwapped}) {
    std::vector<TypeParam> values = right;
    const std::vector<TypeParam> stale(values.size(), static_cast<TypeParam>(1.0));
    runtime::corrupt<TypeParam>(values, stale, kind, 10 * device::kEpsilon<TypeParam>);
    this->spread(values);
    EXPECT_FALSE(this->columns().passed()) << static_cast<int>(kind);
    const std::vector<runtime::Verdict> verdicts = check(this->product(this->a_));
    EXPECT_FALSE(verdicts[0].passed()) << static_cast<int>(kind);
    if (kind == Kind::kElement) {
      EXPECT_EQ(verdicts[0].worst->place, "c[35,0]");
    } else {
      EXPECT_FALSE(verdicts[1].passed()) << static_cast<int>(kind);
    }
  }
}

TYPED_TEST(GemmCheck, FindsASingleNaN) {
  this->result_[69 * this->kStride + 69] = static_cast<TypeParam>(std::numeric_limits<double>::quiet_NaN());
  const std::vector<runtime::Verdict> verdicts = check(this->product(this->a_));
  for (const runtime::Verdict& verdict : verdicts) EXPECT_FALSE(verdict.passed()) << verdict.name;
  EXPECT_EQ(verdicts[0].worst->place, "c[69,69]");
  EXPECT_EQ(verdicts[1].worst->place, "c[69,69]");
}

TYPED_TEST(GemmCheck, FindsATransposedA) {
  std::vector<TypeParam> transposed = this->a_;
  for (std::size_t i = 0; i < this->kSize; ++i) {
    for (std::size_t j = 0; j < this->kSize; ++j) {
      transposed[i * this->kStride + j] = this->a_[j * this->kStride + i];
    }
  }
  const std::vector<runtime::Verdict> verdicts = check(this->product(transposed));
  EXPECT_FALSE(verdicts[0].passed());
  EXPECT_FALSE(verdicts[1].passed());
}

TYPED_TEST(GemmCheck, OfEachRepetitionPassesARightResultAndFindsEveryWrongElement) {
  for (const Rounding rounding : {Rounding::kNone, Rounding::kOfScaling}) {
    this->rounding_ = rounding;
    EXPECT_TRUE(this->columns().passed());
    EXPECT_EQ(this->columns().checked, this->kSize * this->kSize);
    // Where scaling is rounded, the errors of a column may add up: of a wrong element only a part shows.
    const double most = rounding == Rounding::kNone ? 1 : 4 * this->kSize;
    for (std::size_t i = 0; i < this->kSize; i += 3) {
      const std::size_t j = i * 7 % this->kSize;
      TypeParam& element = this->result_[i * this->kStride + j];
      const TypeParam right = element;
      // As large as what was rounded: alpha A B and beta C may leave little of each other.
      const double addend = this->kBeta * static_cast<double>(this->c_[i * this->kStride + j]);
      const double size_of = std::max({1.0, std::abs(static_cast<double>(right)), std::abs(addend)});
      element = static_cast<TypeParam>(static_cast<double>(right) +
                                       most * std::exp2(std::ceil(std::log2(size_of))) *
                                           device::kEpsilon<TypeParam>);
      const runtime::Verdict verdict = this->columns();
      EXPECT_EQ(verdict.error, 1) << "one column";
      ASSERT_TRUE(verdict.worst);
      if (rounding == Rounding::kNone) {
        EXPECT_EQ(verdict.worst->place, "c[" + std::to_string(i) + "," + std::to_string(j) + "]");
      }
      element = right;
    }
  }
}

TYPED_TEST(GemmCheck, OfEachRepetitionFindsWhatIsNoNumberAndWhatAddsUpToNothing) {
  const std::vector<TypeParam> right = this->result_;
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), kInfinity, 0.3}) {
    this->result_ = right;
    this->result_[5 * this->kStride + 9] = static_cast<TypeParam>(wrong);
    EXPECT_EQ(this->columns().error, 1);
  }
  // Two wrong elements of a column, and of a row, whose errors cancel in a plain sum.
  for (const std::size_t apart : {std::size_t{1}, this->kStride}) {
    this->result_ = right;
    std::swap(this->result_[3 * this->kStride + 4], this->result_[3 * this->kStride + 4 + apart]);
    EXPECT_FALSE(this->columns().passed()) << apart;
  }
}

TYPED_TEST(GemmCheck, OfASampleOfRowsFindsWrongElementsInAndOutsideOfIt) {
  constexpr std::size_t kLimit = 40;
  constexpr std::uint64_t kSeed = 5;
  const std::vector<std::size_t> sample = compared_rows(this->product(this->a_), kSeed, kLimit);
  ASSERT_EQ(sample.size(), kLimit * kLimit * kLimit / (this->kSize * this->kSize));
  const auto verdicts = [&] { return check(this->product(this->a_), kSeed, 2, kLimit); };
  const std::vector<runtime::Verdict> right = verdicts();
  ASSERT_EQ(right.size(), 4U);
  EXPECT_EQ(right[0].name, "sampled elements");
  EXPECT_EQ(right[0].checked, sample.size() * this->kSize);
  EXPECT_EQ(right[2].checked, sample.size() * this->kSize);
  EXPECT_EQ(right[3].checked, this->kSize * this->kSize);
  for (const runtime::Verdict& verdict : right) EXPECT_TRUE(verdict.passed()) << verdict.name;
  for (std::size_t row = 0; row < this->kSize; ++row) {
    TypeParam& element = this->result_[row * this->kStride + 11];
    const TypeParam before = element;
    element = static_cast<TypeParam>(static_cast<double>(element) + 1);
    ASSERT_NE(static_cast<double>(element), static_cast<double>(before));
    const std::string place = "c[" + std::to_string(row) + ",11]";
    const std::vector<runtime::Verdict> wrong = verdicts();
    const bool is_sampled = std::ranges::count(sample, row) == 1;
    EXPECT_EQ(wrong[0].passed(), !is_sampled) << place;
    EXPECT_EQ(wrong[0].worst ? wrong[0].worst->place : "none", is_sampled ? place : "none");
    EXPECT_FALSE(wrong[3].passed()) << place;
    EXPECT_EQ(wrong[3].worst->place, place);
    element = before;
  }
}

TYPED_TEST(GemmCheck, EstimatesTheNormOfAllFromASample) {
  constexpr std::size_t kLimit = 60;
  for (std::size_t j = 0; j < this->kSize; ++j) this->result_[j] = static_cast<TypeParam>(0.0);  // row 0
  const Product<TypeParam, TypeParam> product = this->product(this->a_);
  const double of_all = check(product)[2].error;
  EXPECT_GT(of_all, 0);
  EXPECT_NEAR(check(product, 1, 1, kLimit)[2].error / of_all, 1, 0.05);
}

TYPED_TEST(GemmCheck, OfRoundedProductsComparesEveryElement) {
  this->rounding_ = Rounding::kOfScaling;
  const std::vector<runtime::Verdict> verdicts = check(this->product(this->a_), 1, 1, 8);
  ASSERT_EQ(verdicts.size(), 3U) << "a random sum of rounded numbers would hide a wrong one";
  EXPECT_EQ(verdicts[0].name, "elements");
  EXPECT_EQ(verdicts[0].checked, this->kSize * this->kSize);
}

TEST(ComparedRows, AreAllUpToTheLimitAndBeyondItFromAllOverTheMatrix) {
  Product<float, float> product;
  product.size = 8192;
  product.rounding = Rounding::kNone;
  const std::vector<std::size_t> all = compared_rows(product, 3, kFullyCompared);
  ASSERT_EQ(all.size(), 8192U);
  for (std::size_t row = 0; row < all.size(); ++row) ASSERT_EQ(all[row], row);
  for (const auto& [size, count] : {std::pair<std::size_t, std::size_t>{16384, 2048}, {20000, 1374}}) {
    product.size = size;
    const std::vector<std::size_t> some = compared_rows(product, 3, kFullyCompared);
    ASSERT_EQ(some.size(), count);
    EXPECT_EQ(some.front(), 0U);
    EXPECT_EQ(some.back(), size - 1);
    for (std::size_t i = 1; i < count; ++i) {
      ASSERT_GT(some[i], some[i - 1]);
      ASSERT_LT(some[i] - some[i - 1], 2 * size / count + 2) << "no block of rows is left out";
    }
    EXPECT_NE(compared_rows(product, 4, kFullyCompared), some) << "another repetition, other rows";
  }
}

TEST(Rounding, OfExactInputsIsNoneWhereAlphaAndBetaArePowersOfTwoThatFit) {
  for (const int bits : {11, 24, 53}) {
    const auto found = [&](double alpha, double beta) { return rounding_of_exact(alpha, beta, bits); };
    EXPECT_EQ(found(0.5, 2), Rounding::kNone);
    EXPECT_EQ(found(-1, 0), Rounding::kNone);
    EXPECT_EQ(found(1, 1), Rounding::kNone);
    EXPECT_EQ(found(0.3, 2), Rounding::kOfScaling);
    EXPECT_EQ(found(0.5, 3), Rounding::kOfScaling);
    EXPECT_EQ(found(4, -0.5), Rounding::kNone);
    EXPECT_EQ(found(64, 0x1p-10), bits == 11 ? Rounding::kOfScaling : Rounding::kNone)
        << "a C as long as the sum is beyond what half holds";
  }
}

TEST(Threshold, GrowsAsTheErrorsOfRandomSignsDo) {
  EXPECT_EQ(threshold(2048, Rounding::kNone), 0);
  EXPECT_EQ(threshold(2048, Rounding::kOfScaling), 2);
  EXPECT_NEAR(threshold(16384, Rounding::kOfSums) / threshold(1024, Rounding::kOfSums), 4, 0.1);
}

TEST(Residual, OfTheSourceIsBlindForResultsTimesOneAndAHalf) {
  constexpr std::size_t kSize = 4096;
  const std::vector<float> wrong(kSize, 1.5F);
  const std::vector<float> unused(kSize, 0);
  const Product<float, float> product{.size = kSize,
                                      .alpha = 1,
                                      .beta = 0,
                                      .rounding = Rounding::kNone,
                                      .a = {unused.data(), 0},
                                      .b = {unused.data(), 0},
                                      .c = {unused.data(), 0},
                                      .result = {wrong.data(), 0}};  // every row is the same
  Comparison<float, float> comparison(product);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) comparison.add(i, j, 1);
  }
  EXPECT_TRUE(comparison.residual().passed());
  EXPECT_NEAR(comparison.residual().error, 0.25, 0.01);
  EXPECT_FALSE(comparison.verdict("elements").passed());
}

TEST(Multiply, IsRightInShapesThatNothingDivides) {
  for (const Extent extent : {Extent{1, 1, 1}, Extent{3, 5, 7}, Extent{65, 33, 129}, Extent{200, 513, 300}}) {
    std::vector<double> left(extent.rows * extent.depth);
    std::vector<double> right(extent.depth * extent.columns);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<double>(i * 7919 % 101);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<double>(i * 104729 % 103);
    std::vector<double> sums(extent.rows * extent.columns, -1);
    multiply(left, right, sums, extent);
    for (std::size_t i = 0; i < extent.rows; ++i) {
      for (std::size_t j = 0; j < extent.columns; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < extent.depth; ++k) {
          sum += left[i * extent.depth + k] * right[k * extent.columns + j];
        }
        ASSERT_EQ(sums[i * extent.columns + j], sum);
      }
    }
  }
}

}  // namespace

}  // namespace fabricmark::gemm
