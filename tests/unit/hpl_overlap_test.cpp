#include "benchmarks/hpl/overlap.hpp"

#include <gtest/gtest.h>

namespace fabricmark::hpl {

namespace {

device::KernelTimes ran(const std::string& operation, double started, double ended) {
  device::KernelTimes times;
  times.operation = operation;
  times.started = started;
  times.ended = ended;
  return times;
}

double share(const std::vector<device::KernelTimes>& times) {
  return hidden_share(times, "exchange", "inner").value_or(-1);
}

TEST(HiddenShare, IsTheTimeInWhichAKernelRan) {
  EXPECT_DOUBLE_EQ(share({ran("exchange", 2, 6), ran("inner", 4, 9)}), 0.5);
  EXPECT_DOUBLE_EQ(share({ran("exchange", 2, 6), ran("inner", 3, 4)}), 0.25);
  EXPECT_DOUBLE_EQ(share({ran("exchange", 2, 6), ran("inner", 0, 9)}), 1);
  EXPECT_DOUBLE_EQ(share({ran("exchange", 2, 6), ran("inner", 6, 9), ran("inner", 1, 2)}), 0);
}

TEST(HiddenShare, CountsKernelsAtTheSameTimeOnce) {
  EXPECT_DOUBLE_EQ(share({ran("inner", 1, 3), ran("exchange", 0, 8), ran("inner", 2, 4)}), 3.0 / 8);
  EXPECT_DOUBLE_EQ(share({ran("inner", 1, 7), ran("exchange", 0, 8), ran("inner", 2, 4)}), 6.0 / 8);
}

TEST(HiddenShare, IsOfAllExchangesTogether) {
  const std::vector<device::KernelTimes> times{ran("exchange", 10, 16), ran("inner", 1, 3),
                                               ran("exchange", 0, 2),   ran("inner", 11, 13),
                                               ran("inner", 14, 15),    ran("left", 0, 20)};
  EXPECT_DOUBLE_EQ(share(times), (1.0 + 2 + 1) / 8);
}

TEST(HiddenShare, IsAbsentWithoutExchange) {
  EXPECT_FALSE(hidden_share({}, "exchange", "inner"));
  EXPECT_FALSE(hidden_share({ran("inner", 1, 3)}, "exchange", "inner"));
  EXPECT_FALSE(hidden_share({ran("inner", 1, 3), ran("exchange", 2, 2)}, "exchange", "inner"));
}

}  // namespace

}  // namespace fabricmark::hpl
