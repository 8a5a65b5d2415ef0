#include "transport/protocol_race.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "transport/pattern.hpp"
#include "transport/turns.hpp"

namespace fabricmark::transport {
namespace {

/// Protocol by protocol the factor of its times; `noise` is the spread of a round's logarithm, in one round
/// out of ten a protocol is stalled for ten times as long, and in every other one the machine is half as
/// fast.
ProtocolRace raced(const std::vector<double>& factors, double noise, std::size_t rounds, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> logarithm(0, noise);
  std::uniform_int_distribution<int> stall(0, 9);
  ProtocolRace race(factors.size());
  for (std::size_t round = 0; round < rounds && race.running().size() > 1; ++round) {
    const double machine = round % 2 == 0 ? 1 : 2;
    std::vector<double> seconds;
    for (const std::size_t protocol : race.running()) {
      seconds.push_back(machine * factors[protocol] * std::exp(logarithm(random)) *
                        (stall(random) == 0 ? 10 : 1));
    }
    race.add(seconds);
  }
  return race;
}

std::size_t times_chosen(std::size_t protocol, const std::vector<double>& factors, double noise,
                         std::size_t rounds) {
  std::size_t times = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    times += raced(factors, noise, rounds, seed).best(std::nullopt) == protocol;
  }
  return times;
}

TEST(ProtocolRace, FindsWhatIsClearlyFaster) {
  EXPECT_GT(times_chosen(2, {1, 1.5, 0.4, 0.9}, 0.02, 6), 180U);
  EXPECT_GT(times_chosen(1, {1, 0.8}, 0.02, 12), 180U);
}

TEST(ProtocolRace, FindsSmallDifferencesInManyRounds) {
  EXPECT_GT(times_chosen(1, {1, 0.95}, 0.02, 40), 160U);
}

TEST(ProtocolRace, LosesLittleWhereRoundsAreFew) {
  const std::vector<double> factors{1.03, 1};
  double lost = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    lost += factors[raced(factors, 0.05, 12, seed).best(std::nullopt)] - 1;
  }
  EXPECT_LT(lost / 200, 0.01);  // 0.015 by chance
}

TEST(ProtocolRace, StaysWithTheUsualWhereNoneIsFaster) {
  std::size_t times = 0;
  for (unsigned seed = 0; seed < 200; ++seed) times += raced({1, 0.998}, 0.001, 20, seed).best(0) == 0;
  EXPECT_GT(times, 190U);  // too little to leave it for
  EXPECT_EQ(raced({1, 0.9}, 0.001, 20, 0).best(0), 1U);
  EXPECT_EQ(raced({1, 0.998}, 0.001, 20, 0).best(1), 1U);
}

TEST(ProtocolRace, TakesTheOnlyWay) {
  ProtocolRace race(1);
  race.add({3.0});
  EXPECT_EQ(race.best(std::nullopt), 0U);
  EXPECT_EQ(race.best(0), 0U);
  EXPECT_EQ(race.medians(), std::vector<double>{3.0});
}

TEST(ProtocolRace, LeavesOutThoseBehind) {
  ProtocolRace race(3);
  race.add({1, 9, 1});
  EXPECT_EQ(race.running().size(), 3U);  // one round shows nothing
  race.add({1, 9, 1});
  EXPECT_EQ(race.running(), (std::vector<std::size_t>{0, 2}));
  race.add({1, 1.2});
  EXPECT_EQ(race.medians(), (std::vector<double>{1, 9, 1}));
}

TEST(ProtocolRace, KeepsAWayThatTwoShortRoundsDisturbed) {
  ProtocolRace race(2);
  for (int round = 0; round < 2; ++round) race.add({9e-6, 5e-6});
  EXPECT_EQ(race.running().size(), 2U);
  for (int round = 0; round < 10; ++round) race.add({3e-6, 5e-6});
  EXPECT_EQ(race.best(std::nullopt), 0U);
  ProtocolRace slow(2);
  for (int round = 0; round < 6; ++round) slow.add({5e-6, 9e-6});
  EXPECT_EQ(slow.running().size(), 1U);
}

TEST(ProtocolRace, KnowsWhatChanceDoes) {
  EXPECT_FALSE(is_no_chance(4, 4));  // 1/16
  EXPECT_TRUE(is_no_chance(5, 5));
  EXPECT_FALSE(is_no_chance(6, 7));  // 8/128
  EXPECT_TRUE(is_no_chance(7, 8));   // 9/256
  EXPECT_FALSE(is_no_chance(0, 0));
}

TEST(Turns, AreBalanced) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 5U, 8U}) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> places, followers;
    const std::size_t rounds = count % 2 == 1 ? 2 * count : count;
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::vector<std::size_t> order = balanced_order(count, round);
      ASSERT_EQ(std::set(order.begin(), order.end()).size(), count);
      for (std::size_t i = 0; i < count; ++i) ++places[{order[i], i}];
      for (std::size_t i = 1; i < count; ++i) ++followers[{order[i - 1], order[i]}];
    }
    EXPECT_EQ(places.size(), count * count);
    for (const auto& [place, times] : places) EXPECT_EQ(times, rounds / count);
    EXPECT_EQ(followers.size(), count * (count - 1));
    for (const auto& [pair, times] : followers) EXPECT_EQ(times, rounds / count);
  }
}

TEST(Pattern, HasANameThatIsRead) {
  for (const Pattern pattern : kPatterns) EXPECT_EQ(pattern_named(name(pattern)), pattern);
  EXPECT_THROW(pattern_named("zigzag"), Error);
}

}  // namespace
}  // namespace fabricmark::transport
