#include "benchmarks/ptrans/check.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/fault.hpp"

namespace fabricmark::ptrans {

namespace {

using harness::Fault;

/// C of a 10 x 10 matrix in blocks of 4 on rank 1 of two, as a right program makes it.
template <typename T>
class Part {
 public:
  Part() : plan_(make_plan(Distribution::pq({.rows = 1, .columns = 2}, 3), 1, 0)) {
    c.assign(plan_.blocks.size() * kBlock * kBlock, std::numeric_limits<T>::quiet_NaN());
    layout().for_each([&](auto row, auto column, auto place) {
      c[place] = static_cast<T>(inputs.b(row, column) + inputs.a(column, row));
    });
  }
  [[nodiscard]] Layout layout() const { return {plan_.blocks, kSize, kBlock}; }
  [[nodiscard]] harness::Verdict verdict() const { return check<T>(inputs, layout(), c); }
  /// Every element that is here, without padding.
  [[nodiscard]] std::vector<std::size_t> places() const {
    std::vector<std::size_t> all;
    layout().for_each([&](auto, auto, auto place) { all.push_back(place); });
    return all;
  }

  static constexpr std::size_t kSize = 10;
  static constexpr std::size_t kBlock = 4;
  const Inputs<T> inputs{kSize};
  std::vector<T> c;

 private:
  Plan plan_;
};

template <typename T>
class PtransCheck : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PtransCheck, Types);

TYPED_TEST(PtransCheck, ARightResultIsOffByHalfAnEpsilonAndPaddingIsNotLookedAt) {
  const Part<TypeParam> part;
  const harness::Verdict verdict = part.verdict();
  EXPECT_TRUE(verdict.passed());
  EXPECT_LE(verdict.error, 0.5);
  EXPECT_EQ(verdict.checked, 40U) << "columns 4 to 7";
  EXPECT_EQ(part.layout().elements(), 40U);
}

TYPED_TEST(PtransCheck, OneElementThatIsNotRightIsFoundAndPlaced) {
  constexpr TypeParam kEps = std::numeric_limits<TypeParam>::epsilon();
  for (const std::size_t place : Part<TypeParam>().places()) {
    for (const TypeParam factor : {TypeParam{0}, 1 + 4 * kEps, 1 - 4 * kEps, TypeParam{-1},
                                   std::numeric_limits<TypeParam>::quiet_NaN()}) {
      Part<TypeParam> part;
      part.c[place] *= factor;
      const harness::Verdict verdict = part.verdict();
      EXPECT_FALSE(verdict.passed()) << place << ", " << factor;
      ASSERT_TRUE(verdict.worst);
      const std::size_t row = place / 16 * 4 + place % 16 / 4;
      const std::string where = "c[" + std::to_string(row) + "," + std::to_string(4 + place % 4) + "]";
      EXPECT_EQ(verdict.worst->place, where);
    }
  }
}

TYPED_TEST(PtransCheck, EveryFaultOfValuesIsFound) {
  for (const Fault::Kind kind : {Fault::Kind::kElement, Fault::Kind::kScale, Fault::Kind::kZeros,
                                 Fault::Kind::kStale, Fault::Kind::kSwapped}) {
    Part<TypeParam> part;
    std::vector<TypeParam> values;
    for (const std::size_t place : part.places()) values.push_back(part.c[place]);
    const std::vector<TypeParam> stale(values.size(), std::numeric_limits<TypeParam>::quiet_NaN());
    harness::corrupt<TypeParam>(values, stale, kind, 10 * std::numeric_limits<TypeParam>::epsilon());
    std::size_t next = 0;
    for (const std::size_t place : part.places()) part.c[place] = values[next++];
    EXPECT_FALSE(part.verdict().passed());
  }
}

TYPED_TEST(PtransCheck, AWithoutTransposingOrOfAnotherPlaceIsFound) {
  Part<TypeParam> part;
  part.layout().for_each([&](auto row, auto column, auto place) {
    part.c[place] = part.inputs.b(row, column) + part.inputs.a(row, column);
  });
  EXPECT_FALSE(part.verdict().passed());
}

TYPED_TEST(PtransCheck, NoTwoElementsOfTheInputsAreAlike) {
  const Inputs<TypeParam> inputs(40);
  std::set<TypeParam> seen;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      for (const TypeParam value : {inputs.a(i, j), inputs.b(i, j)}) {
        EXPECT_GE(value, 0.5);
        EXPECT_LE(value, 1.5);
        seen.insert(value);
      }
    }
  }
  // Of floats with 24 digits a pair may be.
  EXPECT_GE(seen.size(), 2U * 40 * 40 - 3);
}

}  // namespace

}  // namespace fabricmark::ptrans
