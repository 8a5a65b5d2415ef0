#include "runtime/exchange.hpp"

#include <cmath>
#include <limits>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using power::Reading;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What the root has after each rank brought `own(rank)`.
template <typename Gather>
auto on_root(int count, Gather&& gather) {
  decltype(gather(*single_rank())) result;
  run_in_process(count, [&](Communicator& ranks) {
    auto all = gather(ranks);
    if (ranks.is_root()) result = std::move(all);
    return 0;
  });
  return result;
}

TEST(Exchange, KeepsEveryBitOfANumber) {
  const std::vector<double> errors{0.1, kNaN, -kInfinity, std::numeric_limits<double>::denorm_min()};
  const auto all = on_root(4, [&](Communicator& ranks) {
    Verdict verdict;
    verdict.name = "array a";
    verdict.error = errors[static_cast<std::size_t>(ranks.rank())];
    verdict.threshold = 1.0 / 3;
    verdict.checked = 1000U + static_cast<std::size_t>(ranks.rank());
    if (ranks.rank() == 2) verdict.worst = WorstPlace{"a[17]", kNaN, kInfinity};
    if (ranks.rank() == 3) verdict.repetition = 0;
    return gather_verdicts(ranks, {verdict});
  });
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].verdict.error, 0.1);
  EXPECT_TRUE(std::isnan(all[1].verdict.error));
  EXPECT_EQ(all[2].verdict.error, -kInfinity);
  EXPECT_EQ(all[3].verdict.error, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(all[3].verdict.threshold, 1.0 / 3);
  EXPECT_EQ(all[3].verdict.checked, 1003U);
  EXPECT_EQ(all[3].verdict.repetition, 0);
  EXPECT_FALSE(all[2].verdict.repetition.has_value());
  EXPECT_EQ(all[3].rank, 3);
  EXPECT_FALSE(all[0].verdict.worst.has_value());
  ASSERT_TRUE(all[2].verdict.worst.has_value());
  EXPECT_EQ(all[2].verdict.worst->place, "a[17]");
  EXPECT_TRUE(std::isnan(all[2].verdict.worst->expected));
  EXPECT_EQ(all[2].verdict.worst->actual, kInfinity);
}

TEST(Exchange, CarriesAnyDeviceName) {
  const auto places = on_root(2, [](Communicator& ranks) {
    return gather_placement(ranks, {"host", "caf\xe9\xff \"x\"", ranks.rank(), 3});
  });
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[1].device, "caf\xe9\xff \"x\"");
  EXPECT_EQ(places[1].device_index, 1);
  EXPECT_EQ(places[1].compute_units, 3U);
}

TEST(Exchange, CarriesTimelinesOfDifferentLengths) {
  const auto all = on_root(3, [](Communicator& ranks) {
    std::vector<device::KernelTimes> own(static_cast<std::size_t>(ranks.rank()));
    for (device::KernelTimes& times : own) times = {{0.1, 0.2, 0.3, 0.4}, "triad", "stream", 4, 1};
    return gather_timeline(ranks, own);
  });
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].rank, 1);
  EXPECT_EQ(all[2].rank, 2);
  EXPECT_EQ(all[2].times.operation, "triad");
  EXPECT_EQ(all[2].times.repetition, 4);
  EXPECT_EQ(all[2].times.ended, 0.4);
}

Result::RankVerdict verdict(const std::string& name, double error, int rank) {
  Result::RankVerdict entry;
  entry.verdict.name = name;
  entry.verdict.error = error;
  entry.verdict.threshold = 0.1;
  entry.verdict.checked = 10;
  entry.rank = rank;
  return entry;
}

TEST(WorstVerdicts, AreThoseOfTheRankWithTheLargestError) {
  const auto worst =
      worst_verdicts({verdict("a", 0, 0), verdict("b", 3, 0), verdict("a", 2, 1), verdict("b", 1, 1)});
  ASSERT_EQ(worst.size(), 2U);
  EXPECT_EQ(worst[0].rank, 1);
  EXPECT_EQ(worst[0].verdict.error, 2);
  EXPECT_EQ(worst[1].rank, 0);
  EXPECT_EQ(worst[0].verdict.checked, 20U) << "the values of all ranks were checked";
}

TEST(WorstVerdicts, PutAFailedCheckBeforeAPassedOneWithALargerError) {
  Result::RankVerdict generous = verdict("a", 3, 0);
  generous.verdict.threshold = 4;
  const auto worst = worst_verdicts({generous, verdict("a", 1, 1), generous});
  ASSERT_EQ(worst.size(), 1U);
  EXPECT_EQ(worst[0].rank, 1);
  EXPECT_FALSE(worst[0].verdict.passed());
}

TEST(WorstVerdicts, HoldNaNForTheWorstOfAll) {
  for (const auto& entries : std::vector<std::vector<Result::RankVerdict>>{
           {verdict("a", kNaN, 0), verdict("a", kInfinity, 1), verdict("a", 0, 2)},
           {verdict("a", 0, 0), verdict("a", kInfinity, 1), verdict("a", kNaN, 2)}}) {
    const auto worst = worst_verdicts(entries);
    ASSERT_EQ(worst.size(), 1U);
    EXPECT_TRUE(std::isnan(worst[0].verdict.error));
    EXPECT_FALSE(worst[0].verdict.passed());
    EXPECT_EQ(worst[0].verdict.checked, 30U);
  }
}

TEST(GatheredPower, NamesTheHostOnlyWhenThereAreSeveral) {
  Reading both;
  Reading one;
  run_in_process(3, [&](Communicator& ranks) {
    Reading own;
    if (ranks.rank() != 1) own.energies.push_back({"package-0", "rapl", 1.0 / 3, 2});
    if (ranks.rank() == 2) own.notes.emplace_back("power: a note");
    const Reading two_hosts = gather_power(ranks, ranks.rank() == 2 ? "b" : "a", own);
    const Reading one_host = gather_power(ranks, "a", ranks.is_root() ? own : Reading());
    if (ranks.is_root()) both = two_hosts;
    if (ranks.is_root()) one = one_host;
    return 0;
  });
  ASSERT_EQ(both.energies.size(), 2U);
  EXPECT_EQ(both.energies[0].domain, "a: package-0");
  EXPECT_EQ(both.energies[1].domain, "b: package-0");
  EXPECT_EQ(both.energies[1].joules, 1.0 / 3);
  EXPECT_EQ(both.notes, (std::vector<std::string>{"b: power: a note"}));
  ASSERT_EQ(one.energies.size(), 1U);
  EXPECT_EQ(one.energies[0].domain, "package-0");
}

}  // namespace

}  // namespace fabricmark::runtime
