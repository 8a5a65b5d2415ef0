#include <random>

#include "benchmarks/stream/problem.hpp"
#include "harness/parts.hpp"
#include "support.hpp"

namespace fabricmark::stream {

using harness::divide;
using harness::Part;

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

TEST(Input, IsAWholeNumberFrom1To128AndNotItsNeighbours) {
  std::array<int, 129> seen{};
  int equal_neighbours = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const double value = input(i);
    ASSERT_EQ(value, std::floor(value));
    ASSERT_GE(value, 1);
    ASSERT_LE(value, 128);
    ++seen[static_cast<std::size_t>(value)];
    equal_neighbours += input(i + 1) == value ? 1 : 0;
  }
  EXPECT_EQ(equal_neighbours, 0);
  for (std::size_t value = 1; value <= 128; ++value) EXPECT_GT(seen[value], 0) << value;
}

TEST(Expected, IsWhatOneRepetitionMakes) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    double a = input(i);
    double c = a;
    double b = 3 * c;
    c = a + b;
    a = b + 3 * c;
    ASSERT_EQ(expected(kA, i), a);
    ASSERT_EQ(expected(kB, i), b);
    ASSERT_EQ(expected(kC, i), c);
  }
}

TEST(Expected, IsExactInHalfPrecisionInEveryStep) {
  for (std::uint64_t i = 0; i < 100000; ++i) {
    for (const Array array : {kA, kB, kC}) {
      const double value = expected(array, i);
      ASSERT_LE(value, 2048) << "whole numbers up to here are exact in half";
      ASSERT_EQ(static_cast<double>(harness::Half(value)), value);
    }
    ASSERT_EQ(static_cast<double>(harness::Half(3 * expected(kC, i))), 3 * expected(kC, i))
        << "triad's product";
  }
}

template <typename T>
class Check : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 1000;
  static constexpr std::uint64_t kFirst = 5000;

  static std::vector<T> right(Array array) {
    std::vector<T> values;
    for (std::size_t i = 0; i < kCount; ++i) values.push_back(static_cast<T>(expected(array, kFirst + i)));
    return values;
  }
  static std::vector<T> before(Array array) {
    std::vector<T> values;
    for (std::size_t i = 0; i < kCount; ++i) {
      const double value = array == kA ? input(kFirst + i) : std::numeric_limits<double>::quiet_NaN();
      values.push_back(static_cast<T>(value));
    }
    return values;
  }
};

using Types = testing::Types<float, double, harness::Half>;
TYPED_TEST_SUITE(Check, Types);

TYPED_TEST(Check, PassesRightValues) {
  for (const Array array : {kA, kB, kC}) {
    const harness::Verdict verdict = check<TypeParam>(array, this->right(array), this->kFirst);
    EXPECT_TRUE(verdict.passed());
    EXPECT_EQ(verdict.error, 0);
    EXPECT_EQ(verdict.checked, this->kCount);
    EXPECT_EQ(verdict.name, std::string("array ") + kArrayNames[array]);
    EXPECT_FALSE(verdict.worst.has_value());
  }
}

TYPED_TEST(Check, FindsEveryKindOfFaultInEveryArray) {
  using Kind = harness::Fault::Kind;
  for (const Array array : {kA, kB, kC}) {
    for (const Kind kind : {Kind::kElement, Kind::kScale, Kind::kZeros, Kind::kStale, Kind::kSwapped}) {
      std::vector<TypeParam> values = this->right(array);
      const std::vector<TypeParam> stale = this->before(array);
      harness::corrupt<TypeParam>(values, stale, kind, harness::kEpsilon<TypeParam>);
      const harness::Verdict verdict = check<TypeParam>(array, values, this->kFirst);
      EXPECT_FALSE(verdict.passed()) << kArrayNames[array] << static_cast<int>(kind);
      ASSERT_TRUE(verdict.worst.has_value());
      EXPECT_NE(verdict.worst->place.find(kArrayNames[array]), std::string::npos);
      if (kind == Kind::kElement) {
        EXPECT_EQ(verdict.worst->place, std::string(kArrayNames[array]) + "[500]");
        EXPECT_EQ(verdict.worst->expected, expected(array, this->kFirst + 500));
      }
    }
  }
}

TYPED_TEST(Check, FindsASingleNaNAmongRightValues) {
  std::vector<TypeParam> values = this->right(kB);
  values.back() = static_cast<TypeParam>(std::numeric_limits<double>::quiet_NaN());
  const harness::Verdict verdict = check<TypeParam>(kB, values, this->kFirst);
  EXPECT_FALSE(verdict.passed());
  EXPECT_EQ(verdict.worst->place, "b[999]");
  EXPECT_TRUE(std::isnan(verdict.worst->actual));
}

TYPED_TEST(Check, FindsTwoElementsThatChangedPlaces) {
  std::vector<TypeParam> values = this->right(kC);
  std::swap(values[10], values[11]);
  EXPECT_FALSE(check<TypeParam>(kC, values, this->kFirst).passed());
}

}  // namespace

}  // namespace fabricmark::stream
