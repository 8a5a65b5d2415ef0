// When ranks work beside each other, and what their rate is then.
#include "runtime/windows.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/company.hpp"
#include "runtime/exchange.hpp"
#include "runtime/shared_clock.hpp"
#include "runtime/timed_regions.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

struct Case {
  const char* name;
  PerRank starts;
  PerRank seconds;
  double span;
  double overlap;
};

TEST(Windows, OfAllRanksLastFromTheFirstStartToTheLastEnd) {
  const std::vector<Case> cases{
      {"one rank", {{5}}, {{2}}, 2, 1},
      {"identical", {{1}, {1}, {1}}, {{2}, {2}, {2}}, 2, 1},
      {"one after the other", {{0}, {2}, {4}}, {{2}, {2}, {2}}, 6, 0},
      {"with gaps", {{8}, {4}, {0}}, {{2}, {2}, {2}}, 10, 0},
      {"staggered", {{0}, {1}}, {{2}, {2}}, 3, 0.5},
      {"one within the other", {{0}, {1}}, {{4}, {2}}, 4, 1},
      {"pairs that overlap, but not all", {{0}, {1}, {2}}, {{1.5}, {1.5}, {1.5}}, 3.5, 0},
      {"unknown: the slowest", {}, {{1}, {3}, {2}}, 3, 1},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(spans(one.seconds, one.starts), (std::vector<double>{one.span})) << one.name;
    EXPECT_DOUBLE_EQ(overlap(one.seconds, one.starts), one.overlap) << one.name;
  }
}

TEST(Windows, OfEachRepetitionAreTheirOwn) {
  const PerRank starts{{0, 100, 200}, {2, 100, 201}};
  const PerRank seconds{{2, 2, 2}, {2, 2, 2}};
  EXPECT_EQ(spans(seconds, starts), (std::vector<double>{4, 2, 3}));
  EXPECT_DOUBLE_EQ(overlap(seconds, starts), 0.5);  // the median
  EXPECT_EQ(after_the_first(starts), (PerRank{{0, 0, 0}, {2, 0, 1}}));
  EXPECT_TRUE(spans({}, {}).empty());
}

Result two_ranks(const PerRank& starts) {
  Result result;
  result.placement = {{"host", "device", 0, 1}, {"host", "device", 0, 1}};
  result.region_names = {"copy"};
  result.seconds = {{{1}, {1}}};
  if (!starts.empty()) result.starts = {starts};
  result.metrics = {bandwidth("copy", 2e9)};
  return result;
}

TEST(Windows, ARateOfRanksThatTookTurnsIsThatOfOne) {
  EXPECT_EQ(values_of(two_ranks({{0}, {0}}), two_ranks({}).metrics[0]), (std::vector<double>{2}));
  EXPECT_EQ(values_of(two_ranks({{0}, {1}}), two_ranks({}).metrics[0]), (std::vector<double>{1}));
}

TEST(Windows, OfARateOfSeveralRanksMustBeKnown) {
  Result result = two_ranks({});
  EXPECT_TRUE(
      mentions(message_of([&] { check_windows(result); }, ExitCode::kEnvironment), "when each began"));
  check_windows(two_ranks({{0}, {1}}));
  result.metrics[0].work = 0;  // a time
  check_windows(result);
  result = two_ranks({});
  result.placement.pop_back();
  check_windows(result);
}

void spend_a_millisecond() {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1)) {
  }
}

TEST(Windows, ARankThatBeginsLateIsSeenWhoeverItIs) {
  for (const int late : {0, 2}) {
    std::atomic<int> done = 0;  // by the two others, who have worked for a millisecond before
    run_in_process(3, [&](Communicator& ranks) {
      TimedRegions regions(ranks, std::nullopt);
      int parts = 0;
      regions.set_disturbance([&] {
        ++parts;
        while (ranks.rank() == late && done < 2 * parts) std::this_thread::yield();
      });
      const auto work = [&] {
        spend_a_millisecond();
        if (ranks.rank() != late) ++done;
      };
      regions.start_counting();
      regions.time("copy", work);
      regions.time("many", work, 10);
      regions.keep("event", 0.5);
      Result result;
      gather_samples(ranks, regions.samples(), SharedClock(ranks), result);
      EXPECT_GE(spans(result.seconds[0], result.starts[0])[0], 2e-3);
      EXPECT_GE(spans(result.seconds[1], result.starts[1])[0], 2e-4);  // of one of ten
      EXPECT_GE(result.starts[0][static_cast<std::size_t>(late)][0], 1e-3);
      EXPECT_TRUE(result.starts[2].empty());
      EXPECT_EQ(spans(result.seconds[2], result.starts[2]), (std::vector<double>{0.5}));
      return 0;
    });
  }
}

/// Clocks of machines that are apart and drift from `base` on, each of which its ranks read.
ClockSource made_up(int machine, std::int64_t ahead, double drift = 0, std::int64_t base = 0) {
  return {std::to_string(machine), [=] {
            const std::int64_t now = monotonic_clock().nanoseconds();
            return now + ahead + static_cast<std::int64_t>(drift * static_cast<double>(now - base));
          }};
}

TEST(SharedClock, OfOneMachineIsReadAsItIs) {
  run_in_process(2, [](Communicator& ranks) {
    SharedClock clock(ranks);
    clock.compare();
    EXPECT_EQ(clock.spread(), 0);
    EXPECT_TRUE(clock.notes().empty());
    const std::int64_t now = ranks.all_reduce_max(monotonic_clock().nanoseconds());
    const auto all = ranks.all_gather_numbers({clock.seconds_at(now)});
    EXPECT_EQ(all[0], all[1]);
    EXPECT_NEAR(clock.seconds_at(now + 1) - clock.seconds_at(now), 1e-9, 1e-13);
    return 0;
  });
}

TEST(SharedClock, OfSeveralMachinesIsAsGoodAsItSays) {
  constexpr std::int64_t kHours = 7'200'000'000'000;
  run_in_process(4, [](Communicator& ranks) {
    const int machine = ranks.rank() / 2;
    const ClockSource source = made_up(machine, machine * kHours);
    SharedClock clock(ranks, source);
    clock.compare();
    const std::int64_t there = monotonic_clock().nanoseconds();
    const double moment = clock.seconds_at(there + machine * kHours);
    const double first = ranks.all_gather_numbers({moment - 1e-9 * static_cast<double>(there)})[0][0];
    clock.compare();
    EXPECT_GT(clock.spread(), 0);
    // What a clock shows of a moment differs from the first machine's by no more than is told.
    const double shown = clock.seconds_at(there + machine * kHours) - 1e-9 * static_cast<double>(there);
    const auto all = ranks.all_gather_numbers({shown});
    for (const auto& one : all) EXPECT_NEAR(one[0], all[0][0], clock.spread() + 1e-6);
    EXPECT_NEAR(shown, first, 2 * clock.spread() + 1e-6);
    EXPECT_TRUE(mentions(clock.notes().at(0), "2 machines"));
    return 0;
  });
}

TEST(SharedClock, FollowsADriftBetweenTwoComparisons) {
  constexpr double kDrift = 1e-3;
  const std::int64_t base = monotonic_clock().nanoseconds();
  run_in_process(2, [&](Communicator& ranks) {
    const ClockSource source = made_up(ranks.rank(), 0, ranks.rank() * kDrift, base);
    SharedClock clock(ranks, source);
    std::int64_t comparing = 0;  // during which the clocks drift, too
    const auto compare = [&] {
      const std::int64_t start = source.nanoseconds();
      clock.compare();
      comparing += source.nanoseconds() - start;
    };
    compare();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ranks.barrier();
    const std::int64_t before = source.nanoseconds();
    ranks.barrier();
    const std::int64_t after = source.nanoseconds();
    compare();
    const double error =
        2 * clock.spread() + 2e-9 * kDrift * static_cast<double>(ranks.all_reduce_max(comparing));
    const auto all = ranks.all_gather_numbers({clock.seconds_at(before), clock.seconds_at(after)});
    EXPECT_LE(all[0][0], all[1][1] + error);
    EXPECT_LE(all[1][0], all[0][1] + error);
    return 0;
  });
}

TEST(Crowd, IsMoreRanksThanTheCpusOfTheirMasks) {
  EXPECT_TRUE(crowded({{"a", {0}}, {"a", {1}}}).empty());
  EXPECT_TRUE(crowded({{"a", {0, 1}}, {"a", {0, 1}}}).empty());
  EXPECT_TRUE(crowded({{"a", {0}}, {"b", {0}}}).empty());
  EXPECT_TRUE(mentions(crowded({{"a", {3}}, {"a", {3}}}).at(0), "2 ranks share 1 CPU of a"));
  EXPECT_TRUE(mentions(crowded({{"a", {0, 1}}, {"a", {0, 1}}, {"a", {1, 0}}}).at(0), "3 ranks share 2 CPUs"));
  // Others have CPUs enough; and ranks that may go elsewhere, but not far enough.
  EXPECT_TRUE(
      mentions(crowded({{"a", {0}}, {"a", {0}}, {"a", {0, 1, 2, 3}}}).at(0), "2 ranks share 1 CPU of a"));
  EXPECT_TRUE(mentions(crowded({{"a", {0}}, {"a", {1}}, {"a", {0, 1}}}).at(0), "3 ranks share 2 CPUs"));
  EXPECT_EQ(crowded({{"a", {0}}, {"a", {0}}, {"b", {0}}, {"b", {0}}}).size(), 2U);
}

TEST(Company, IsToldWhereRanksTookTurns) {
  run_in_process(2, [](Communicator& ranks) {
    const auto has_note = [&](const PerRank& starts, std::optional<TimeKind> kind) {
      Result result = two_ranks(starts);
      result.metrics[0].kind = kind;
      return std::ranges::any_of(company_notes(ranks, result), [](const std::string& note) {
        return mentions(note, "did not run at the same time in copy");
      });
    };
    EXPECT_TRUE(has_note({{0}, {1}}, std::nullopt));
    EXPECT_TRUE(has_note({{0}, {0.11}}, std::nullopt));
    EXPECT_FALSE(has_note({{0}, {0.09}}, std::nullopt));
    EXPECT_FALSE(has_note({{0}, {1}}, TimeKind::kModelled));
    return 0;
  });
}

}  // namespace

}  // namespace fabricmark::runtime
