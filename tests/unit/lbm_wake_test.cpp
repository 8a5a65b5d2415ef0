#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "apps/lbm/wake.hpp"

namespace fabricmark::lbm {
namespace {

std::vector<double> wave(std::size_t count, double period) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back(std::sin(2 * std::numbers::pi * static_cast<double>(i) / period + 0.3));
  return samples;
}

TEST(Wake, AFrequencyIsThatOfItsRisesThroughZero) {
  EXPECT_NEAR(frequency_of(wave(200, 13.7), 5), 1 / (13.7 * 5), 1e-4 / 5);
}

TEST(Wake, WhatTheWakeWasLikeAtFirstDoesNotCount) {
  std::vector<double> samples = wave(100, 3.1);
  const std::vector<double> later = wave(110, 12);
  samples.insert(samples.end(), later.begin(), later.end());
  EXPECT_NEAR(frequency_of(samples, 1), 1 / 12.0, 1e-3);
}

TEST(Wake, FewerThanFourRisesAreNone) {
  EXPECT_EQ(frequency_of(wave(80, 13), 1), 0);
  EXPECT_GT(frequency_of(wave(120, 13), 1), 0);
  EXPECT_EQ(frequency_of({}, 1), 0);
  EXPECT_EQ(frequency_of(std::vector<double>(50, 0.0), 1), 0);
}

}  // namespace
}  // namespace fabricmark::lbm
