// Energy from samples: pure arithmetic, to the last bit where the samples allow it.
#include "power/energy.hpp"

#include "support.hpp"

namespace fabricmark::power {

namespace {

const Domain kPower{"board", Quantity::kPower};
const Domain kCounter{"package-0", Quantity::kEnergy, 1000};
const Domain kCounterWithoutEnd{"gpu-0", Quantity::kEnergy};

TEST(Energy, OfARampIsExact) {
  // 10 W growing by 20 W/s, sampled at uneven times: 10 t + 10 t^2.
  std::vector<Sample> samples;
  for (const double time : {0.0, 0.125, 0.5, 0.75, 2.0}) samples.push_back({time, 10 + 20 * time});
  EXPECT_DOUBLE_EQ(energy_between(samples, kPower, 0, 2).value(), 60);
  EXPECT_DOUBLE_EQ(energy_between(samples, kPower, 0.25, 1.5).value(), 12.5 + 10 * (2.25 - 0.0625));
  EXPECT_DOUBLE_EQ(energy_between(samples, kPower, 1, 1.25).value(), 2.5 + 10 * (1.5625 - 1));
  EXPECT_DOUBLE_EQ(energy_between(samples, kPower, 1, 1).value(), 0);
}

TEST(Energy, OfPowerIsTheSumOfTrapezoids) {
  const std::vector<Sample> samples{{0, 10}, {1, 30}, {3, 30}, {4, 0}};
  EXPECT_DOUBLE_EQ(energy_between(samples, kPower, 0, 4).value(), 20 + 60 + 15);
}

TEST(Energy, OfACounterIsItsGrowth) {
  EXPECT_DOUBLE_EQ(energy_between({{0, 100}, {1, 150}, {2, 400}}, kCounter, 0, 2).value(), 300);
  // Samples reach a little beyond the time that counts: in proportion.
  EXPECT_DOUBLE_EQ(energy_between({{0, 100}, {2, 200}, {4, 400}}, kCounter, 1, 3).value(), 50 + 100);
}

TEST(Energy, OfACounterThatWrapsGoesOn) {
  EXPECT_DOUBLE_EQ(energy_between({{0, 990}, {1, 40}, {2, 90}}, kCounter, 0, 2).value(), 100);
  // Several times, when it is read often enough.
  EXPECT_DOUBLE_EQ(energy_between({{0, 900}, {1, 400}, {2, 900}, {3, 300}, {4, 100}}, kCounter, 0, 4).value(),
                   2200);
}

TEST(Energy, OfACounterThatFellWithoutWrappingIsUnknown) {
  EXPECT_FALSE(energy_between({{0, 990}, {1, 40}}, kCounterWithoutEnd, 0, 1).has_value());
  EXPECT_FALSE(energy_between({{0, 5000}, {1, 40}}, kCounter, 0, 1).has_value());
}

TEST(Energy, IsUnknownWhereSamplesDoNotReachFromEndToEnd) {
  EXPECT_FALSE(energy_between({}, kPower, 0, 1).has_value());
  EXPECT_FALSE(energy_between({{0.5, 1}, {2, 1}}, kPower, 0, 1).has_value());
  EXPECT_FALSE(energy_between({{0, 1}, {0.9, 1}}, kPower, 0, 1).has_value());
}

TEST(PeakPower, IsTheLargestSampleThatCounts) {
  const std::vector<Sample> samples{{0, 90}, {1, 30}, {2, 77.25}, {3, 40}, {4, 95}};
  EXPECT_EQ(peak_power(samples, kPower, {{0.5, 3.5}}, 0), 77.25);
  EXPECT_EQ(peak_power(samples, kPower, {{0.5, 1.5}, {2.5, 3.5}}, 0), 40) << "not of a pause";
  EXPECT_EQ(peak_power(samples, kPower, {{2, 2}}, 0), 77.25);
  EXPECT_FALSE(peak_power(samples, kPower, {{1.25, 1.75}}, 0).has_value());
  EXPECT_FALSE(peak_power({}, kPower, {{0, 1}}, 0).has_value());
}

TEST(PeakPower, OfACounterIsItsFastestGrowth) {
  const std::vector<Sample> samples{{0, 900}, {1, 950}, {1.125, 975}, {2, 50}, {3, 60}};  // wraps at 1000
  EXPECT_EQ(peak_power(samples, kCounter, {{0, 3}}, 0), 200) << "25 J in an eighth of a second";
  // Two samples that are too near each other for a counter that grows in steps are not compared.
  EXPECT_EQ(peak_power(samples, kCounter, {{0, 3}}, 1), 100);
  EXPECT_EQ(peak_power(samples, kCounter, {{2.5, 3}}, 0.5), 10);
  EXPECT_FALSE(peak_power(samples, kCounter, {{0, 3}}, 4).has_value());
}

TEST(KeptSamples, BeginWithTheFirstRepetitionAndGoOnOverWraps) {
  const std::vector<Sample> counter = kept_samples({{10, 900}, {11, 950}, {12, 50}}, kCounter, 10.5);
  ASSERT_EQ(counter.size(), 3U);
  EXPECT_EQ(counter[0].seconds, -0.5);
  EXPECT_EQ(counter[0].value, 0);
  EXPECT_EQ(counter[1].value, 50);
  EXPECT_EQ(counter[2].value, 150);
  EXPECT_EQ(kept_samples({{10, 42}}, kPower, 10)[0].value, 42);
}

TEST(Energy, SkipsOverSamplesThatAreMissing) {
  EXPECT_DOUBLE_EQ(energy_between({{0, 50}, {9, 50}, {10, 50}}, kPower, 0, 10).value(), 500);
}

}  // namespace

}  // namespace fabricmark::power
