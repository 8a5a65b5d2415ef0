#include "benchmarks/ptrans/check.hpp"

#include <gtest/gtest.h>

#include <set>

#include "runtime/fault.hpp"

namespace fabricmark::ptrans {

namespace {

using runtime::Fault;

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
  [[nodiscard]] runtime::Verdict verdict(int threads = 1) const {
    const auto source = [&](std::size_t number) { return opposite(plan_.blocks[number]); };
    return check<T>("elements", inputs, layout(), c, source, threads);
  }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// Every element that is here, without padding.
  [[nodiscard]] std::vector<std::size_t> places() const {
    std::vector<std::size_t> all;
    layout().for_each([&](auto, auto, auto place) { all.push_back(place); });
    return all;
  }
  [[nodiscard]] std::string name_of(std::size_t place) const {
    std::string name;
    layout().for_each([&](auto row, auto column, auto at) {
      if (at == place) name = "c[" + std::to_string(row) + "," + std::to_string(column) + "]";
    });
    return name;
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
  const runtime::Verdict verdict = part.verdict();
  EXPECT_TRUE(verdict.passed());
  EXPECT_LE(verdict.error, 0.5);
  EXPECT_EQ(verdict.checked, 40U) << "columns 4 to 7";
  EXPECT_EQ(part.layout().elements(), 40U);
  EXPECT_EQ(part.verdict(3).checked, 40U);
  EXPECT_EQ(part.verdict(3).error, verdict.error);
}

TYPED_TEST(PtransCheck, TheErrorOfASumIsThatOfTheExactOne) {
  constexpr auto kEps = static_cast<long double>(std::numeric_limits<TypeParam>::epsilon());
  const Inputs<TypeParam> inputs(100, 3);
  for (std::size_t i = 0; i < 100; ++i) {
    const auto [b, a] = inputs.terms(i, 2 * i);
    const long double exact = static_cast<long double>(b) + static_cast<long double>(a);
    for (const TypeParam factor : {TypeParam{1}, 1 + std::numeric_limits<TypeParam>::epsilon()}) {
      const TypeParam c = (b + a) * factor;
      const long double expected = std::abs(static_cast<long double>(c) - exact) / (kEps * exact);
      EXPECT_NEAR(error_of_sum(c, b, a), static_cast<double>(expected), 1e-6);
    }
  }
}

TYPED_TEST(PtransCheck, WhatTheExchangeLeftIsAddedByTheKernelsAlone) {
  const Part<TypeParam> part;
  // Other blocks than the opposite ones, also of the edge, whose padding is zero.
  std::vector<Block> sources(part.plan().blocks.size(), Block{2, 1});
  sources[0] = {0, 2};
  std::vector<TypeParam> c(part.c.size());
  const auto fill = [&](const Inputs<TypeParam>& inputs) {
    for (std::size_t number = 0; number < sources.size(); ++number) {
      const Layout::Extent extent = part.layout().extent(number);
      for (std::size_t i = 0; i < extent.rows; ++i) {
        for (std::size_t j = 0; j < extent.columns; ++j) {
          const std::size_t row = 4 * sources[number].row + j;
          const std::size_t column = 4 * sources[number].column + i;
          const TypeParam a = row < 10 && column < 10 ? inputs.a(row, column) : TypeParam{0};
          c[extent.place + 4 * i + j] = inputs.b(extent.row + i, extent.column + j) + a;
        }
      }
    }
  };
  const auto passes = [&] {
    const auto source = [&](std::size_t number) { return sources[number]; };
    return check<TypeParam>("kernels", part.inputs, part.layout(), c, source).passed();
  };
  fill(part.inputs);
  EXPECT_TRUE(passes());
  std::swap(sources[0], sources[1]);
  EXPECT_FALSE(passes());
  std::swap(sources[0], sources[1]);
  fill(Inputs<TypeParam>(10, 0, Step::kParts));
  EXPECT_FALSE(passes());
}

TYPED_TEST(PtransCheck, ABlockThatDidNotArriveIsFoundAndPlaced) {
  const Inputs<TypeParam> inputs(10);
  const std::vector<Block> blocks{{0, 1}, {2, 1}};
  const Layout layout(blocks, 10, 4);
  std::vector<TypeParam> arrived(32);
  layout.for_each([&](auto row, auto column, auto place) { arrived[place] = inputs.a(row, column); });
  EXPECT_TRUE(check_exchange<TypeParam>(inputs, layout, arrived).passed());
  EXPECT_EQ(check_exchange<TypeParam>(inputs, layout, arrived).checked, 24U) << "two rows of the last";
  for (const TypeParam wrong : {TypeParam{0}, std::numeric_limits<TypeParam>::quiet_NaN()}) {
    std::vector<TypeParam> corrupted = arrived;
    corrupted[16 + 5] = wrong;
    const runtime::Verdict verdict = check_exchange<TypeParam>(inputs, layout, corrupted);
    EXPECT_EQ(verdict.error, 1);
    EXPECT_EQ(verdict.worst->place, "a[9,5]");
  }
  EXPECT_FALSE(check_exchange<TypeParam>(Inputs<TypeParam>(10, 1), layout, arrived).passed());
}

TYPED_TEST(PtransCheck, EachRepetitionAndStepHasItsOwnInputs) {
  std::set<TypeParam> seen;
  for (const int repetition : {-1, 0, 1, 2}) {
    for (const Step step : {Step::kParts, Step::kWhole}) {
      const Inputs<TypeParam> inputs(40, repetition, step);
      for (std::size_t i = 0; i < 40; ++i) {
        for (const TypeParam value : {inputs.a(i, 7), inputs.b(i, 7)}) seen.insert(value);
      }
    }
  }
  EXPECT_GE(seen.size(), 8U * 80 - 3);
}

TYPED_TEST(PtransCheck, OneElementThatIsNotRightIsFoundAndPlaced) {
  constexpr TypeParam kEps = std::numeric_limits<TypeParam>::epsilon();
  for (const std::size_t place : Part<TypeParam>().places()) {
    for (const TypeParam factor : {TypeParam{0}, 1 + 4 * kEps, 1 - 4 * kEps, TypeParam{-1},
                                   std::numeric_limits<TypeParam>::quiet_NaN()}) {
      Part<TypeParam> part;
      part.c[place] *= factor;
      const runtime::Verdict verdict = part.verdict();
      EXPECT_FALSE(verdict.passed()) << place << ", " << factor;
      ASSERT_TRUE(verdict.worst);
      EXPECT_EQ(verdict.worst->place, part.name_of(place));
    }
  }
}

TYPED_TEST(PtransCheck, ABitThatIsWrongIsFoundAndPlaced) {
  Part<TypeParam> part;
  for (TypeParam& value : part.c) value = std::isnan(value) ? TypeParam{0} : value;
  const auto found = [&](const std::vector<TypeParam>& c, int threads) {
    return check_bits<TypeParam>(part.inputs, part.layout(), c, threads);
  };
  EXPECT_TRUE(found(part.c, 1).passed());
  EXPECT_EQ(found(part.c, 3).checked, 40U);
  std::vector<TypeParam> padded = part.c;
  padded.back() = 1;
  EXPECT_EQ(found(padded, 1).error, 1) << "padding that came wrong";
  const std::size_t wrong = part.places()[17];
  for (const TypeParam value : {std::nextafter(part.c[wrong], TypeParam{4}), part.c[wrong + 1],
                                std::numeric_limits<TypeParam>::quiet_NaN()}) {
    std::vector<TypeParam> c = part.c;
    c[wrong] = value;
    const runtime::Verdict verdict = found(c, 2);
    EXPECT_FALSE(verdict.passed());
    EXPECT_EQ(verdict.error, 1);
    EXPECT_EQ(verdict.worst->place, part.name_of(wrong));
  }
}

TYPED_TEST(PtransCheck, TheDigestIsOfElementsAndPlacesHoweverTheyLie) {
  const Part<TypeParam> part;
  const auto digest = [](const Layout& layout, const std::vector<TypeParam>& c, int threads) {
    return digest_of<TypeParam>(layout, c, threads);
  };
  const std::uint64_t whole = digest(part.layout(), part.c, 1);
  EXPECT_EQ(digest(part.layout(), part.c, 3), whole);
  std::uint64_t sum = 0;  // block by block, as if each were on a rank of its own
  for (std::size_t number = 0; number < part.plan().blocks.size(); ++number) {
    const std::vector<Block> one{part.plan().blocks[number]};
    const auto* const first = part.c.data() + 16 * number;
    sum += digest({one, 10, 4}, {first, first + 16}, 1);
  }
  EXPECT_EQ(sum, whole);
  const std::vector<std::size_t> places = part.places();
  std::vector<TypeParam> c = part.c;
  c[places[3]] = std::nextafter(c[places[3]], TypeParam{4});
  EXPECT_NE(digest(part.layout(), c, 1), whole);
  c = part.c;
  std::swap(c[places[3]], c[places[30]]);
  EXPECT_NE(digest(part.layout(), c, 1), whole);
}

TYPED_TEST(PtransCheck, EveryFaultOfValuesIsFound) {
  for (const Fault::Kind kind : {Fault::Kind::kElement, Fault::Kind::kScale, Fault::Kind::kZeros,
                                 Fault::Kind::kStale, Fault::Kind::kSwapped}) {
    Part<TypeParam> part;
    std::vector<TypeParam> values;
    for (const std::size_t place : part.places()) values.push_back(part.c[place]);
    const std::vector<TypeParam> stale(values.size(), std::numeric_limits<TypeParam>::quiet_NaN());
    runtime::corrupt<TypeParam>(values, stale, kind, 10 * std::numeric_limits<TypeParam>::epsilon());
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
