#include <cmath>
#include <set>

#include "benchmarks/hpl/faults.hpp"
#include "benchmarks/hpl/probes.hpp"
#include "hpl_support.hpp"

namespace fabricmark::hpl {

namespace {

TEST(HplGroups, ShareNoTwoColumnsInBothPartitions) {
  for (const std::size_t size : {1U, 2U, 511U, 512U, 513U, 1000U, 5000U, 600000U}) {
    const Groups first(size, 0);
    const Groups second(size, Groups::partitions(size) - 1);
    EXPECT_EQ(first.count(), std::min<std::size_t>(size, 512));
    std::set<std::pair<std::size_t, std::size_t>> seen;
    std::size_t largest = 0;
    for (std::size_t column = 0; column < size; ++column) {
      const auto place = std::pair(first.group(column), second.group(column));
      ASSERT_LT(std::max(place.first, place.second), first.count());
      largest = std::max({largest, first.members(place.first), second.members(place.second)});
      ASSERT_TRUE(size > 512 * 512 || seen.insert(place).second) << column << " of " << size;
    }
    EXPECT_LE(largest, size / 512 + 1 + size / 512 / 512) << "evenly divided";
  }
}

/// What the ranks find in factors, as the runtime puts it together.
template <typename T>
std::map<std::string, runtime::Verdict> verdicts(const Factored<T>& whole, const Shape& shape,
                                                 const runtime::Fault* fault = nullptr) {
  std::vector<std::vector<runtime::Verdict>> all(shape.rows * shape.columns);
  on_ranks(shape, whole.size(), [&](const Vectors& vectors) {
    const Layout& layout = vectors.layout();
    std::vector<T> factors = whole.factors(layout);
    if (fault != nullptr && fault->rank.value_or(layout.rank) == layout.rank) {
      const std::vector<T> matrix = whole.matrix(layout);
      FactorFault<T>(layout, factors, matrix).make(*fault);
    }
    all[static_cast<std::size_t>(layout.rank)] = Probes<T>(vectors, factors.data()).check();
  });
  std::map<std::string, runtime::Verdict> worst;
  for (const std::vector<runtime::Verdict>& found : all) {
    for (const runtime::Verdict& verdict : found) {
      const auto [entry, is_new] = worst.try_emplace(verdict.name, verdict);
      if (is_new) continue;
      const std::size_t checked = entry->second.checked + verdict.checked;
      if (verdict.error > entry->second.error) entry->second = verdict;
      entry->second.checked = checked;
    }
  }
  return worst;
}

template <typename T>
class HplProbes : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(HplProbes, Types);

TYPED_TEST(HplProbes, PassRightFactorsOnAnyGrid) {
  for (const std::size_t size : {16U, 61U}) {
    const Factored<TypeParam> whole(size);
    for (const Shape& shape : shapes()) {
      const auto found = verdicts(whole, shape);
      EXPECT_EQ(found.at("factors").checked, size * (size - 1));
      EXPECT_EQ(found.at("diagonal of U").checked, size);
      for (const auto& [name, verdict] : found) {
        EXPECT_TRUE(verdict.passed()) << shape << ", " << name << ": " << verdict.error;
        EXPECT_GT(verdict.error, 0) << "numbers that were not computed";
      }
    }
  }
}

TYPED_TEST(HplProbes, PassFactorsThatAreRoundedOftenWithRoom) {
  for (const std::size_t size : {1U, 2U, 3U, 200U, 600U}) {
    const Factored<TypeParam> whole(size);
    const auto found = verdicts(whole, {1, 2, 1 + size / 3});
    for (const auto& [name, verdict] : found) {
      EXPECT_LT(verdict.error, 0.8 * verdict.threshold) << name << ", n = " << size;
    }
  }
}

TYPED_TEST(HplProbes, FindEveryElementThatIsOffByAThousandEpsilons) {
  constexpr std::size_t kSize = 19;
  const Inputs inputs(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      Factored<TypeParam> whole(kSize);
      // As large as in A: what U is, and L times the diagonal.
      const double size = std::abs(static_cast<double>(whole.factor(i, j)) * (i > j ? inputs(j, j) : 1));
      if (size < 0.05) continue;
      whole.factor(i, j) *= 1 + 1000 * std::numeric_limits<TypeParam>::epsilon();
      const auto found = verdicts(whole, {1, 1, 4});
      const runtime::Verdict& verdict = found.at(i == j ? "diagonal of U" : "factors");
      EXPECT_FALSE(verdict.passed()) << i << ", " << j << ": " << verdict.error;
      // An element of U is in the products of its column, one of L in those of its row.
      const std::string& place = verdict.worst->place;
      EXPECT_TRUE(i > j ? place.starts_with("element " + std::to_string(i) + ",")
                        : place.ends_with("," + std::to_string(j)))
          << place << " for " << i << ", " << j;
    }
  }
}

TYPED_TEST(HplProbes, FindOneElementInGroupsOfSeveral) {
  constexpr std::size_t kSize = 700;
  const Factored<TypeParam> right(kSize);
  const Inputs inputs(kSize);
  // In the second and the last of these the column shares the first partition's group with the row.
  for (auto [row, column] : {std::pair{400U, 3U}, {600U, 88U}, {0U, 640U}, {5U, 517U}}) {
    for (; std::abs(inputs(row, column)) < 0.15; ++row, ++column) continue;
    Factored<TypeParam> whole = right;
    whole.factor(row, column) *= 1 + 1000 * std::numeric_limits<TypeParam>::epsilon();
    const auto found = verdicts(whole, {1, 2, 100});
    EXPECT_FALSE(found.at("factors").passed()) << row << ", " << column << ": " << found.at("factors").error;
    EXPECT_NE(found.at("factors").worst->place.find(std::to_string(row)), std::string::npos);
  }
}

TYPED_TEST(HplProbes, FindEveryFaultOnOneRankOrAll) {
  const Factored<TypeParam> whole(100);
  for (const char* text : {"element", "element:l", "element:u", "element:diagonal", "element@3", "scale",
                           "zeros", "stale", "swapped:factors", "scale@1", "zeros@0", "stale@2",
                           "zeros:block", "stale:block", "swapped:block", "stale:block@3", "scale:block@0"}) {
    runtime::Fault fault = runtime::parse_fault(text);
    const auto found = verdicts(whole, {2, 2, 8}, &fault);
    const bool is_diagonal = fault.target == "diagonal";
    EXPECT_FALSE(found.at(is_diagonal ? "diagonal of U" : "factors").passed()) << text;
  }
}

TYPED_TEST(HplProbes, FindASingleNaN) {
  for (const auto& [row, column] : {std::pair{3U, 7U}, {7U, 3U}, {5U, 5U}}) {
    Factored<TypeParam> whole(30);
    whole.factor(row, column) = std::numeric_limits<TypeParam>::quiet_NaN();
    bool is_found = false;
    for (const auto& [name, verdict] : verdicts(whole, {1, 2, 8})) is_found = is_found || !verdict.passed();
    EXPECT_TRUE(is_found);
  }
}

TEST(HplFaults, NeedAnElementOrTwoBlocks) {
  Factored<double> whole(8);
  const Layout layout{.size = 8, .block = 8, .grid = {1, 1}, .rank = 0};
  std::vector<double> factors = whole.factors(layout);
  const std::vector<double> matrix = whole.matrix(layout);
  FactorFault<double> fault(layout, factors, matrix);
  const auto make = [&](const char* text) {
    return test::message_of([&] { fault.make(runtime::parse_fault(text)); }, ExitCode::kBadUse);
  };
  EXPECT_TRUE(test::mentions(make("swapped:block"), "less than two blocks"));
  EXPECT_TRUE(test::mentions(make("element:elsewhere"), "no element of elsewhere"));
}

}  // namespace

}  // namespace fabricmark::hpl
