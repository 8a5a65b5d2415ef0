#include <random>

#include "benchmarks/common/parts.hpp"
#include "benchmarks/stream/problem.hpp"
#include "support.hpp"

namespace fabricmark::stream {

using common::divide;
using common::Part;

namespace {

TEST(Divide, CoversTheWholeLengthWithWholeBlocksAsEvenlyAsTheyGo) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::size_t size = 1 + random() % (i % 2 == 0 ? 50U : 1000000U);
    const std::size_t block = 1 + random() % 5000;
    const std::size_t replications = 1 + random() % 64;
    const std::vector<Part> parts = divide(size, block, replications);
    ASSERT_EQ(parts.size(), replications);
    std::size_t end = 0;
    for (const Part& part : parts) {
      ASSERT_EQ(part.start, end);
      ASSERT_EQ(part.count % block, 0U);
      ASSERT_LE(part.count, parts.front().count);
      ASSERT_LE(parts.front().count - part.count, block);
      end += part.count;
    }
    ASSERT_GE(end, size);
    ASSERT_LT(end, size + block);
  }
}

TEST(Divide, MayLeaveLatePartsEmpty) {
  const std::vector<Part> parts = divide(1, 16, 3);
  EXPECT_EQ(parts[0].count, 16U);
  EXPECT_EQ(parts[1].count, 0U);
  EXPECT_EQ(parts[2].count, 0U);
}

template <typename T>
std::vector<T> input(Array array, int repetition, std::uint64_t first_index, std::size_t count) {
  std::vector<T> values(count);
  make_input<T>(array, repetition, first_index, values);
  return values;
}

/// How many elements of the second are those of the first.
template <typename T>
std::size_t equal(const std::vector<T>& first, const std::vector<T>& second) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < first.size(); ++i) count += first[i] == second[i] ? 1 : 0;
  return count;
}

constexpr std::size_t kMany = 100000;

template <typename T>
class Input : public testing::Test {};
using Types = testing::Types<float, double, device::Half>;
TYPED_TEST_SUITE(Input, Types);

TYPED_TEST(Input, IsFrom1To2AndUsesEveryBitOfTheSignificand) {
  const std::vector<TypeParam> values = input<TypeParam>(kA, 3, 0, kMany);
  for (double bit = 0.5; bit >= device::kEpsilon<TypeParam>; bit /= 2) {
    std::size_t set = 0;
    for (const TypeParam value : values) {
      const auto number = static_cast<double>(value);
      ASSERT_GE(number, 1);
      ASSERT_LT(number, 2);
      set += std::fmod(number, 2 * bit) >= bit ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(set) / kMany, 0.5, 0.01) << bit;
  }
}

TYPED_TEST(Input, IsAnotherInEveryRepetitionArrayAndRank) {
  // By chance as many are alike as the type has few bits.
  const auto most = static_cast<std::size_t>(2 * kMany * device::kEpsilon<TypeParam>) + 3;
  const std::vector<TypeParam> one = input<TypeParam>(kA, 0, 0, kMany);
  for (const int other : {-3, -1, 1, 2, 10, 64, 1024}) {
    EXPECT_LE(equal(one, input<TypeParam>(kA, other, 0, kMany)), most) << other;
  }
  EXPECT_LE(equal(one, input<TypeParam>(kB, 0, 0, kMany)), most);
  EXPECT_LE(equal(one, input<TypeParam>(kA, 0, kMany, kMany)), most) << "the next rank's";
  EXPECT_EQ(equal(one, input<TypeParam>(kA, 0, 0, kMany)), kMany);
}

TYPED_TEST(Input, IsTheSameHoweverItIsCut) {
  for (const std::uint64_t first : {std::uint64_t{1000}, (std::uint64_t{3} << 32U) - 2000}) {
    const std::vector<TypeParam> whole = input<TypeParam>(kB, 5, first, 3000);
    std::vector<TypeParam> parts = input<TypeParam>(kB, 5, first, 1234);
    const std::vector<TypeParam> rest = input<TypeParam>(kB, 5, first + 1234, 1766);
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(equal(whole, parts), 3000U);
  }
}

/// One repetition on the host, with the same roundings as a device.
template <typename T>
class Check : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 5000;  // several blocks, the last in part

  Check() {
    run([](T a, T b) { return fused_triad(a, b); });
  }

  template <typename Triad>
  void run(Triad&& triad) {
    for (std::size_t i = 0; i < kCount; ++i) {
      results_[kA][i] = triad(a_[i], b_[i]);
      results_[kC][i] = results_[kA][i];
      results_[kB][i] = scaled(results_[kC][i]);
    }
  }
  [[nodiscard]] std::array<runtime::Verdict, kArrays> verdicts(std::size_t start = 0) const {
    return check<T>({a_, b_, {results_[kA], results_[kB], results_[kC]}}, start);
  }
  /// The arrays whose check fails, and that each of these names the element that is worst.
  [[nodiscard]] std::string failed() const {
    std::string names;
    for (const runtime::Verdict& verdict : verdicts()) {
      EXPECT_EQ(verdict.checked, kCount);
      EXPECT_EQ(verdict.worst.has_value(), verdict.error > 0);
      if (!verdict.passed()) names += verdict.name.back();
    }
    return names;
  }

  std::vector<T> a_ = input<T>(kA, 7, 100, kCount);
  std::vector<T> b_ = input<T>(kB, 7, 100, kCount);
  std::array<std::vector<T>, kArrays> results_{std::vector<T>(kCount), std::vector<T>(kCount),
                                               std::vector<T>(kCount)};
};

TYPED_TEST_SUITE(Check, Types);

TYPED_TEST(Check, MakesTheInputsOfARepetitionOnceMore) {
  constexpr std::size_t kMore = 20000;  // several times as many as are made at a time
  this->a_ = input<TypeParam>(kA, 7, 100, kMore);
  this->b_ = input<TypeParam>(kB, 7, 100, kMore);
  for (std::vector<TypeParam>& result : this->results_) result.resize(kMore);
  for (std::size_t i = 0; i < kMore; ++i) {
    this->results_[kA][i] = this->results_[kC][i] = fused_triad(this->a_[i], this->b_[i]);
    this->results_[kB][i] = scaled(this->results_[kC][i]);
  }
  const auto of = [&](int repetition) {
    const auto& [a, b, c] = this->results_;
    return check<TypeParam>({std::span(a), std::span(b), std::span(c)}, repetition, 100, 50);
  };
  for (const runtime::Verdict& verdict : of(7)) {
    EXPECT_EQ(verdict.error, 0) << verdict.name;
    EXPECT_EQ(verdict.checked, kMore);
  }
  EXPECT_FALSE(of(8)[kA].passed()) << "of another repetition";
  for (const std::size_t place : {std::size_t{0}, std::size_t{8192}, kMore - 1}) {
    TypeParam& element = this->results_[kB][place];
    const TypeParam right = element;
    element = static_cast<TypeParam>(0.0);
    const std::array<runtime::Verdict, kArrays> found = of(7);
    EXPECT_TRUE(found[kA].passed() && found[kC].passed());
    ASSERT_FALSE(found[kB].passed());
    EXPECT_EQ(found[kB].worst->place, "b[" + std::to_string(50 + place) + "]");
    element = right;
  }
}

TYPED_TEST(Check, PassesRightValuesWithAndWithoutFusedMultiplyAdd) {
  for (const runtime::Verdict& verdict : this->verdicts()) EXPECT_EQ(verdict.error, 0) << verdict.name;
  this->run([](TypeParam a, TypeParam b) { return separate_triad(a, b); });
  EXPECT_EQ(this->failed(), "");
}

TYPED_TEST(Check, FindsEveryKindOfFaultInEveryArrayAlone) {
  using Kind = runtime::Fault::Kind;
  for (const Array array : {kA, kB, kC}) {
    for (const Kind kind : {Kind::kElement, Kind::kScale, Kind::kZeros, Kind::kStale, Kind::kSwapped}) {
      const std::vector<TypeParam> right = this->results_[array];
      runtime::corrupt<TypeParam>(this->results_[array], array == kB ? this->b_ : this->a_, kind,
                                  device::kEpsilon<TypeParam>);
      if (kind == Kind::kSwapped) {  // by chance some elements are alike
        EXPECT_NE(this->failed().find(kArrayNames[array]), std::string::npos);
      } else {
        EXPECT_EQ(this->failed(), kArrayNames[array]) << static_cast<int>(kind);
      }
      if (kind == Kind::kElement) {
        EXPECT_EQ(this->verdicts(1000)[array].worst->place, std::string(kArrayNames[array]) + "[3500]");
      }
      this->results_[array] = right;
    }
  }
}

TYPED_TEST(Check, FindsASingleNaNAmongRightValues) {
  this->results_[kB].back() = static_cast<TypeParam>(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(this->failed(), "b");
  EXPECT_EQ(this->verdicts()[kB].worst->place, "b[4999]");
  EXPECT_TRUE(std::isnan(this->verdicts()[kB].worst->actual));
}

TYPED_TEST(Check, FindsACopyThatLosesTheLastBit) {
  auto& c = this->results_[kC][17];
  c = static_cast<TypeParam>(static_cast<double>(c) * (1 + device::kEpsilon<TypeParam>));
  EXPECT_EQ(this->failed(), "c");
}

TYPED_TEST(Check, FindsOperationsThatLeaveOutAnInput) {
  // 3 a + b and 3 (a + b): without what add read of b, and without what triad did.
  this->run([](TypeParam a, TypeParam b) {
    return static_cast<TypeParam>(3 * static_cast<double>(a) + static_cast<double>(b));
  });
  EXPECT_EQ(this->failed(), "abc");
  this->run([](TypeParam a, TypeParam b) { return scaled(sum(a, b)); });
  EXPECT_EQ(this->failed(), "abc");
}

/// What a device does that computes in the narrower type.
template <typename T, typename Narrow>
T narrowed(T a, T b) {
  const auto narrow = [](T value) { return static_cast<Narrow>(static_cast<double>(value)); };
  return static_cast<T>(static_cast<double>(fused_triad<Narrow>(narrow(a), narrow(b))));
}

using CheckOfDouble = Check<double>;
TEST_F(CheckOfDouble, FindsFloat) {
  run(narrowed<double, float>);
  EXPECT_EQ(failed(), "abc");
}

using CheckOfFloat = Check<float>;
TEST_F(CheckOfFloat, FindsHalf) {
  run(narrowed<float, device::Half>);
  EXPECT_EQ(failed(), "abc");
}

}  // namespace

}  // namespace fabricmark::stream
