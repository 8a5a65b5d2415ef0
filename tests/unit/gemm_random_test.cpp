// Random inputs in fewer digits than the type's: from where on the check finds them.
#include "benchmarks/gemm/check.hpp"
#include "benchmarks/gemm/column_check.hpp"
#include "benchmarks/gemm/inputs.hpp"
#include "benchmarks/gemm/product.hpp"
#include "support.hpp"

namespace fabricmark::gemm {

namespace {

/// The float with `digits` significant digits that is nearest to a float.
float rounded(float value, int digits) {
  const double scaled = static_cast<double>(value) * (std::ldexp(1.0, 53 - digits) + 1);
  return static_cast<float>(scaled - (scaled - value));
}

/// A corner of a random product in float, and what becomes of it where the inputs have fewer digits.
class RandomPart {
 public:
  RandomPart(std::size_t size, std::size_t side)
      : size_(size), side_(side), a_(side * size), b_(size * side) {
    const Inputs inputs({.is_exact = false, .size = size});
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t k = 0; k < size; ++k) {
        a_[i * size + k] = static_cast<float>(inputs.a(i, k));
        b_[k * side + i] = static_cast<float>(inputs.b(k, i));
      }
    }
    sums_ = product(24);
    result_.resize(side * side);
  }

  /// The check's error and threshold where inputs have so many digits, and all else is right.
  [[nodiscard]] runtime::Verdict verdict(int digits) {
    const std::vector<double> found = digits == 24 ? sums_ : product(digits);
    for (std::size_t i = 0; i < found.size(); ++i) result_[i] = static_cast<float>(found[i]);
    return compared();
  }

  /// The same of sums in float, one product after the other.
  [[nodiscard]] runtime::Verdict honest() {
    std::ranges::fill(result_, 0.0F);
    for (std::size_t i = 0; i < side_; ++i) {
      for (std::size_t k = 0; k < size_; ++k) {
        for (std::size_t j = 0; j < side_; ++j)
          result_[i * side_ + j] += a_[i * size_ + k] * b_[k * side_ + j];
      }
    }
    return compared();
  }

  /// What each repetition's check says of the last result; of whole products only.
  [[nodiscard]] runtime::Verdict of_repetition() const {
    const Product<float, float> whole = described();
    return ColumnCheck<float, float>(whole, 17).verdict();
  }

 private:
  [[nodiscard]] Product<float, float> described() const {
    return {.size = size_,
            .alpha = 1,
            .beta = 0,
            .rounding = Rounding::kOfSums,
            .a = {a_.data(), size_},
            .b = {b_.data(), side_},
            .c = {},
            .result = {result_.data(), side_}};
  }
  [[nodiscard]] runtime::Verdict compared() const {
    const Product<float, float> part = described();
    Comparison<float, float> comparison(part);
    for (std::size_t i = 0; i < sums_.size(); ++i) comparison.add(i / side_, i % side_, sums_[i]);
    return comparison.verdict("elements");
  }
  [[nodiscard]] std::vector<double> product(int digits) const {
    const auto cut = [&](const std::vector<float>& values) {
      std::vector<double> numbers(values.begin(), values.end());
      if (digits < 24)
        std::ranges::transform(values, numbers.begin(), [&](float x) { return rounded(x, digits); });
      return numbers;
    };
    std::vector<double> sums(side_ * side_);
    multiply(cut(a_), cut(b_), sums, {side_, side_, size_});
    return sums;
  }

  std::size_t size_, side_;
  std::vector<float> a_, b_;
  std::vector<double> sums_;
  std::vector<float> result_;
};

struct Case {
  std::size_t size, side;
  int most_digits;  ///< that are found
};
class RandomInFewerDigits : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sizes, RandomInFewerDigits,
                         testing::Values(Case{512, 512, 17}, Case{2048, 256, 16}, Case{16384, 256, 15}));

TEST_P(RandomInFewerDigits, AreFoundAndSumsInFloatAreNot) {
  RandomPart part(GetParam().size, GetParam().side);
  const runtime::Verdict honest = part.honest();
  EXPECT_LT(honest.error, honest.threshold / 2);
  EXPECT_TRUE(part.verdict(24).passed());
  for (const int digits : {8, 11, GetParam().most_digits}) {
    EXPECT_FALSE(part.verdict(digits).passed()) << digits;
  }
}

TEST(RandomInputsOfFewerDigits, AreFoundInEveryRepetitionToo) {
  RandomPart part(512, 512);
  EXPECT_TRUE(part.honest().passed());
  EXPECT_TRUE(part.of_repetition().passed());
  for (const int digits : {8, 11, 16}) {
    EXPECT_FALSE(part.verdict(digits).passed());
    EXPECT_FALSE(part.of_repetition().passed()) << digits;
  }
}

}  // namespace

}  // namespace fabricmark::gemm
