#include "runtime/activity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "runtime/modelled_timeline.hpp"

namespace fabricmark::runtime {
namespace {

using Piece = ActivityLog::Piece;

Activity compute(std::int64_t from, std::int64_t to, int device = 0) {
  return {.device = device, .lane = "kernel", .from = from, .to = to};
}

TEST(ActivityLog, JoinsWhatTouches) {
  ActivityLog log;
  log.add(compute(0, 10));
  log.add(compute(10, 12));
  log.add(compute(13, 20));
  log.add(compute(30, 30));  // took no time
  const auto series = log.series();
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].lane, "kernel");
  EXPECT_EQ(series[0].pieces, (std::vector<Piece>{{0, 12, 12, 2}, {13, 20, 7, 1}}));
}

TEST(ActivityLog, KeepsApartWhatDiffers) {
  ActivityLog log;
  const Activity first = compute(0, 10);
  log.add(first);
  for (int place = 0; place < 5; ++place) {
    Activity other = compute(10, 20);
    if (place == 0) other.device = 1;
    if (place == 1) other.lane = "other";
    if (place == 2) other.kind = ActivityKind::kWaitForWord;
    if (place == 3) other.what = "stream";
    if (place == 4) other.whom = "kernel";
    log.add(other);
  }
  EXPECT_EQ(log.series().size(), 6U);
}

TEST(ActivityLog, WhatComesLateIsPutInItsPlace) {
  ActivityLog log;
  log.add(compute(40, 50));
  log.add(compute(0, 10));
  log.add(compute(20, 30));
  EXPECT_EQ(log.series()[0].pieces, (std::vector<Piece>{{0, 10, 10, 1}, {20, 30, 10, 1}, {40, 50, 10, 1}}));
  log.add(compute(10, 20));  // joins both
  EXPECT_EQ(log.series()[0].pieces, (std::vector<Piece>{{0, 30, 30, 3}, {40, 50, 10, 1}}));
}

TEST(ActivityLog, JoinsTheShortestGapsBeyondItsMost) {
  ActivityLog log(4);
  // Gaps of 1, 100, 1, 100 and 1.
  for (const std::int64_t start : {0, 11, 121, 132, 242, 253}) log.add(compute(start, start + 10));
  EXPECT_EQ(log.series()[0].pieces,
            (std::vector<Piece>{{0, 21, 20, 2}, {121, 142, 20, 2}, {242, 263, 20, 2}}));
  EXPECT_EQ(log.resolution(), 1);
}

TEST(ActivityLog, IsBoundedAndLosesNoTime) {
  ActivityLog log(100);
  for (std::int64_t i = 0; i < 100'000; ++i) log.add(compute(10 * i, 10 * i + 4, static_cast<int>(i % 7)));
  std::size_t pieces = 0;
  std::int64_t busy = 0;
  std::uint64_t count = 0;
  for (const auto& series : log.series()) {
    pieces += series.pieces.size();
    for (const Piece& piece : series.pieces) {
      busy += piece.busy;
      count += piece.count;
    }
  }
  EXPECT_LE(pieces, 100U);
  EXPECT_EQ(busy, 400'000);
  EXPECT_EQ(count, 100'000U);
}

TEST(ActivityLog, CountsWhatIsBeyondTheMostSeries) {
  ActivityLog log(10);  // two series
  for (int device = 0; device < 5; ++device) log.add(compute(0, 10 + device, device));
  EXPECT_EQ(log.series().size(), 2U);
  EXPECT_EQ(log.left_out().count, 3U);
  EXPECT_EQ(log.left_out().busy, 12 + 13 + 14);
}

TEST(ActivityLog, DoesNotDependOnWhoseTurnItIs) {
  std::mt19937 draw(7);
  std::vector<Activity> all;
  for (std::int64_t at = 0; all.size() < 2000;) {
    at += std::uniform_int_distribution(0, 1000)(draw);
    const int device = std::uniform_int_distribution(0, 3)(draw);
    all.push_back(compute(at, at + std::uniform_int_distribution(1, 500)(draw), device));
  }
  const auto text = [](const std::vector<Activity>& activities) {
    ActivityLog log(150);
    for (const Activity& activity : activities) log.add(activity);
    return timeline_document(log, "", "").dump();
  };
  const std::string expected = text(all);
  for (int round = 0; round < 5; ++round) {
    // Each device adds in its order.
    std::vector<std::size_t> turns(all.size());
    std::ranges::transform(all, turns.begin(), [](const Activity& activity) {
      return static_cast<std::size_t>(activity.device);
    });
    std::ranges::shuffle(turns, draw);
    std::array<std::vector<Activity>, 4> of_device;
    for (const Activity& activity : all)
      of_device[static_cast<std::size_t>(activity.device)].push_back(activity);
    std::array<std::size_t, 4> next{};
    std::vector<Activity> mixed;
    for (const std::size_t device : turns) mixed.push_back(of_device[device][next[device]++]);
    EXPECT_EQ(text(mixed), expected);
  }
}

TEST(ActivityLog, TakesActivitiesOfManyThreads) {
  ActivityLog log(1000);
  {
    std::vector<std::jthread> threads;
    for (int device = 0; device < 4; ++device) {
      threads.emplace_back([&log, device] {
        const auto line = log.line(compute(0, 0, device));
        for (std::int64_t i = 0; i < 5000; ++i) log.add(line, 3 * i, 3 * i + 1);
      });
    }
  }
  std::uint64_t count = 0;
  for (const auto& series : log.series()) {
    for (const Piece& piece : series.pieces) count += piece.count;
  }
  EXPECT_EQ(count, 20'000U);
}

TEST(ActivityLog, HoldsWhatOtherRanksSay) {
  ActivityLog first;
  first.add(compute(0, 10, 0));
  ActivityLog second;
  second.add({.device = 1, .lane = "copies", .from = 5, .to = 9, .kind = ActivityKind::kCopy, .what = "a"});
  ActivityLog both;
  both.merge(timeline_document(first, "", ""));
  both.merge(timeline_document(second, "", ""));
  const auto series = both.series();
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].pieces, (std::vector<Piece>{{0, 10, 10, 1}}));
  EXPECT_EQ(series[1].kind, ActivityKind::kCopy);
  EXPECT_EQ(series[1].pieces, (std::vector<Piece>{{5, 9, 4, 1}}));
}

TEST(ActivityLog, GivesUpThePartOfADevice) {
  ActivityLog log;
  const ActivityLog::Line line = log.line(compute(0, 0, 0));
  log.add(line, 0, 10);
  log.add(compute(3, 9, 1));
  const ActivityLog::Part part = log.take(0);
  ASSERT_EQ(part.series.size(), 1U);
  EXPECT_EQ(part.series[0].pieces, (std::vector<Piece>{{0, 10, 10, 1}}));
  ASSERT_EQ(log.series().size(), 1U) << "that of the other device";
  log.add(line, 10, 12);
  EXPECT_EQ(log.take(0).series[0].pieces, (std::vector<Piece>{{10, 12, 2, 1}}));
  EXPECT_TRUE(log.take(0).series.empty());
  ActivityLog other;
  other.merge(part);
  other.merge(log.take(1));
  EXPECT_EQ(other.series().size(), 2U);
}

TEST(ActivityLog, APartSaysWhatIsNotExact) {
  ActivityLog log(2);
  for (int at = 0; at < 30; at += 10) log.add(compute(at, at + 1));
  ActivityLog other;
  other.merge(log.take(0));
  EXPECT_EQ(other.resolution(), log.resolution());
  EXPECT_GT(other.resolution(), 0);
  EXPECT_EQ(other.series()[0].pieces[0].busy, 3);
}

TEST(ModelledTimeline, HasOtherLogsPartsWhereTheyWere) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  ModelledTimeline timeline(*ranks);
  timeline.end_part("first", 1e-12);  // 1000 fs
  ActivityLog log;
  log.add(compute(40, 60));  // half of it before the part begins, at 50
  log.add(compute(90, 95));
  log.add({.device = 0, .lane = "gone", .from = 10, .to = 50});
  // The clock stood at 2 fs when it began.
  timeline.add(log.take(0), 50, 2e-15);
  const auto series = timeline.gathered(*ranks)->series();
  ASSERT_EQ(series.size(), 2U) << "the lanes kernel and timed region";
  EXPECT_EQ(series[0].lane, "kernel");
  EXPECT_EQ(series[0].pieces, (std::vector<Piece>{{1002, 1012, 10, 1}, {1042, 1047, 5, 1}}));
}

TEST(ActivityLog, RefusesTimesThatCannotBe) {
  ActivityLog log;
  EXPECT_THROW(log.add(compute(2, 1)), Error);
  EXPECT_THROW(log.add(compute(-1, 1)), Error);
}

TEST(TimelineDocument, SaysSecondsAndKinds) {
  ActivityLog log;
  log.add({.device = 2,
           .lane = "consume",
           .from = 1'000'000,
           .to = 3'000'000,
           .kind = ActivityKind::kWaitForWord,
           .what = "words",
           .whom = "produce"});
  const auto document = timeline_document(log, "program", "title");
  EXPECT_EQ(document["schema"], "fabricmark-timeline/1");
  EXPECT_EQ(document["kind"], "modelled");
  const auto& series = document["series"][0];
  EXPECT_EQ(series["device"], 2);
  EXPECT_EQ(series["kind"], "wait-for-word");
  EXPECT_EQ(series["whom"], "produce");
  EXPECT_EQ(series["activities"].dump(), "[[1e-09,3e-09,2e-09,1]]");
}

}  // namespace
}  // namespace fabricmark::runtime
