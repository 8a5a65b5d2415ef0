#include "base/statistics.hpp"

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

TEST(Statistics, OfAKnownSeries) {
  const Statistics result = statistics({4, 1, 3, 2});
  EXPECT_EQ(result.minimum, 1);
  EXPECT_EQ(result.maximum, 4);
  EXPECT_EQ(result.median, 2.5);
  EXPECT_EQ(result.mean, 2.5);
  EXPECT_NEAR(result.standard_deviation, 1.2909944487358056, 1e-15);
  EXPECT_EQ(statistics({5, 1, 9}).median, 5);
}

TEST(Statistics, OfOneValueHaveNoDeviation) {
  const Statistics result = statistics({7});
  EXPECT_EQ(result.median, 7);
  EXPECT_EQ(result.mean, 7);
  EXPECT_EQ(result.standard_deviation, 0);
}

TEST(Statistics, OfNothingAreZero) {
  EXPECT_EQ(statistics({}).mean, 0);
  EXPECT_EQ(statistics({}).maximum, 0);
}

TEST(Slowest, IsTheLargestTimeOfEachRepetition) {
  EXPECT_EQ(slowest({{1, 5, 2}, {3, 4, 2}}), (std::vector<double>{3, 5, 2}));
  EXPECT_EQ(slowest({{1, 2}}), (std::vector<double>{1, 2}));
  EXPECT_TRUE(slowest({}).empty());
}

}  // namespace

}  // namespace fabricmark::runtime
