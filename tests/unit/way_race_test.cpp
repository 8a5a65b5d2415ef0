#include "fabric/way_race.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "fabric/pattern.hpp"

namespace fabricmark::fabric {
namespace {

/// Way by way the factor of its times; `noise` is the spread of a round's logarithm, and in one round out of
/// ten a way is stalled for ten times as long.
WayRace raced(const std::vector<double>& factors, double noise, std::size_t rounds, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> logarithm(0, noise);
  std::uniform_int_distribution<int> stall(0, 9);
  WayRace race(factors.size(), rounds * factors.size());
  while (race.goes_on()) {
    std::vector<double> seconds;
    for (const std::size_t way : race.running())
      seconds.push_back(factors[way] * std::exp(logarithm(random)) * (stall(random) == 0 ? 10 : 1));
    race.add(seconds);
  }
  return race;
}

std::size_t times_chosen(std::size_t way, const std::vector<double>& factors, double noise,
                         std::size_t rounds) {
  std::size_t times = 0;
  for (unsigned seed = 0; seed < 200; ++seed) times += raced(factors, noise, rounds, seed).best() == way;
  return times;
}

TEST(WayRace, FindsWhatIsClearlyFaster) {
  EXPECT_GT(times_chosen(2, {1, 1.5, 0.4, 0.9}, 0.02, 6), 180U);
  EXPECT_GT(times_chosen(1, {1, 0.8}, 0.02, 12), 180U);
}

TEST(WayRace, FindsSmallDifferencesInManyRounds) { EXPECT_GT(times_chosen(1, {1, 0.95}, 0.02, 40), 160U); }

TEST(WayRace, StaysWithTheFirstWhereNoneIsFaster) {
  EXPECT_GT(times_chosen(0, {1, 1, 1, 1}, 0.03, 6), 180U);
  EXPECT_GT(times_chosen(0, {1, 0.99}, 0.001, 20), 190U);  // too little to leave it for
}

TEST(WayRace, TakesTheOnlyWay) {
  WayRace race(1, 6);
  EXPECT_FALSE(race.goes_on());
  race.add({3.0});
  EXPECT_EQ(race.best(), 0U);
  EXPECT_EQ(race.medians(), std::vector<double>{3.0});
}

TEST(WayRace, GivesTheTurnsOfThoseBehindToTheOthers) {
  WayRace race(3, 12);
  std::size_t rounds = 0;
  for (; race.goes_on(); ++rounds) {
    std::vector<double> seconds;
    for (const std::size_t way : race.running()) seconds.push_back(way == 1 ? 9 : 1);
    race.add(seconds);
  }
  EXPECT_EQ(rounds, 5U);  // two of all, which leave six turns for two ways
}

TEST(WayRace, KnowsWhatChanceDoes) {
  EXPECT_FALSE(is_no_chance(4, 4));  // 1/16
  EXPECT_TRUE(is_no_chance(5, 5));
  EXPECT_FALSE(is_no_chance(6, 7));  // 8/128
  EXPECT_TRUE(is_no_chance(7, 8));   // 9/256
  EXPECT_FALSE(is_no_chance(0, 0));
}

TEST(Pattern, HasANameThatIsRead) {
  for (const Pattern pattern : kPatterns) EXPECT_EQ(pattern_named(name(pattern)), pattern);
  EXPECT_THROW(pattern_named("zigzag"), Error);
}

}  // namespace
}  // namespace fabricmark::fabric
