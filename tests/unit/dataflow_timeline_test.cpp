#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "dataflow_support.hpp"
#include "runtime/activity.hpp"

namespace fabricmark::dataflow {
namespace {

using network::FlowSettings;
using runtime::ActivityKind;
using runtime::ActivityLog;

/// A series in words, its pieces in cycles: "0 consume: wait-for-word words (produce) 0-1".
std::string text_of(const ActivityLog::Series& series) {
  std::string text = std::to_string(series.device) + " " + series.lane + ": " + name_of(series.kind);
  if (!series.what.empty()) text += " " + series.what;
  if (!series.whom.empty()) text += " (" + series.whom + ")";
  for (const auto& piece : series.pieces) {
    text += " " + std::to_string(piece.from / kCycle) + "-" + std::to_string(piece.to / kCycle);
    if (piece.busy < piece.to - piece.from) text += "/" + std::to_string(piece.busy / kCycle);
  }
  return text;
}

std::vector<std::string> text_of(const ActivityLog& log) {
  std::vector<std::string> lines;
  for (const auto& series : log.series()) lines.push_back(text_of(series));
  return lines;
}

using Lines = std::vector<std::string>;

nlohmann::json json_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream);
}

std::shared_ptr<ActivityLog> pipeline(const DeviceCost& cost, const Start& consumer,
                                      std::optional<std::uint64_t> seed = {}, const Start& producer = {}) {
  auto log = std::make_shared<ActivityLog>();
  Host host(std::make_shared<Fabric>(FabricSettings{.schedule_seed = seed, .log = log}), 0, cost);
  stream<int, 2> words("words");
  host.start("produce", producer, [&] { produce(words, 5); });
  host.start("consume", consumer, [&] { sum(words, 5); });
  host.finish();
  return log;
}

// The consumer takes a word every three cycles, at 1, 4, 7, 10 and 13; a place is free in the cycle after.
TEST(DataflowTimeline, SaysWhoWaitedForWhom) {
  const Lines expected = {
      "0 consume: compute 1-13",
      "0 consume: wait-for-word words (produce) 0-1",
      "0 produce: compute 0-3 5-6",
      "0 produce: wait-for-space words (consume) 3-5 6-8",
  };
  EXPECT_EQ(text_of(*pipeline(kDevice, {.interval = 3})), expected);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(text_of(*pipeline(kDevice, {.interval = 3}, seed)), expected) << "seed " << seed;
  }
}

// A word comes out four cycles after its begin: it is the begin that stops, and the last words still come
// out.
TEST(DataflowTimeline, PipelinesStopAtTheirBegin) {
  EXPECT_EQ(text_of(*pipeline(kDevice, {.interval = 3}, {}, {.depth = 4})),
            (Lines{
                "0 consume: compute 5-17",
                "0 consume: wait-for-word words (produce) 0-5",
                "0 produce: compute 0-3 5-6 8-12",
                "0 produce: wait-for-space words (consume) 3-5 6-8",
            }));
}

TEST(DataflowTimeline, LaunchesAndMemoryTakeTime) {
  const DeviceCost cost{1e9, 10e-9, 1e9};  // a byte a cycle
  EXPECT_EQ(text_of(*pipeline(cost, {.interval = 3, .memory_bytes = 20})),
            (Lines{
                "0 consume: compute 11-23",
                "0 consume: wait-for-word words (produce) 10-11",
                "0 consume: wait-for-memory 23-30",
                "0 host: launch consume 0-10",
                "0 host: launch produce 0-10",
                "0 produce: compute 10-13 15-16",
                "0 produce: wait-for-space words (consume) 13-15 16-18",
            }));
}

// The tests of the report read the same file.
TEST(DataflowTimeline, IsWrittenAsTheReportReadsIt) {
  const auto log = pipeline({1e9, 10e-9, 1e9}, {.interval = 3, .memory_bytes = 20});
  const auto path = std::filesystem::path(testing::TempDir()) / "pipeline.timeline.json";
  runtime::write_timeline(path, *log, "pipeline", "two kernels");
  const std::filesystem::path kernels = FABRICMARK_TEST_KERNELS;
  EXPECT_EQ(json_in(path), json_in(kernels.parent_path() / "tests" / "pipeline.timeline.json"));
}

TEST(DataflowTimeline, KernelsOfOneNameAtTheSameTimeHaveLanesOfTheirOwn) {
  auto log = std::make_shared<ActivityLog>();
  Host host(std::make_shared<Fabric>(FabricSettings{.log = log}), 0, kDevice);
  const auto work = [] { spend_cycles(7); };
  host.start("work", {}, work);
  host.start("work", {}, work);
  host.finish();
  host.start("work", {}, work);
  host.finish();
  EXPECT_EQ(text_of(*log), (Lines{"0 work: compute 0-14", "0 work (2): compute 0-7"}));
}

/// So many words of two cycles each from device 0 to device 1, four cycles away.
struct LinkCase {
  FlowSettings flow{};
  int workers = 1;
  int words = 3;
  double interval = 1;       // of the sender
  double read_interval = 1;  // of the receiver
  std::size_t most = ActivityLog::kMost;
};

std::shared_ptr<ActivityLog> over_link(const LinkCase& link) {
  auto log = std::make_shared<ActivityLog>(link.most);
  const auto fabric = std::make_shared<Fabric>(FabricSettings{.devices = 2,
                                                              .topology = network::pair(),
                                                              .link = {4e-9, 1e9, 2, link.flow},
                                                              .workers = link.workers,
                                                              .stack_bytes = 1 << 16,
                                                              .log = log});
  Host sender(fabric, 0, kDevice);
  Host receiver(fabric, 1, kDevice);
  auto out = sender.open<int>(0);
  auto in = receiver.open<int>(0);
  sender.start("send", {.interval = link.interval}, [&] { produce(out.out, link.words); });
  receiver.start("receive", {.interval = link.read_interval}, [&] { sum(in.in, link.words); });
  finish(sender, receiver);
  return log;
}

TEST(DataflowTimeline, LinksAreBusyWhileTheyCarryWords) {
  for (const int workers : {1, 2}) {
    EXPECT_EQ(text_of(*over_link({.workers = workers})),
              (Lines{
                  "0 link 0:0 to 1:0: link 0-6",
                  "0 send: compute 0-1 2-3",
                  "0 send: wait-for-link link 0:0 to 1:0 1-2 3-4",
                  "1 receive: compute 6-7 8-9",
                  "1 receive: wait-for-word link 0:0 to 1:0 (send of device 0) 0-6 7-8 9-10",
              }))
        << workers;
    const auto apart = over_link({.workers = workers, .interval = 3})->series();
    EXPECT_EQ(text_of(apart[0]), "0 link 0:0 to 1:0: link 0-2 3-5 6-8") << workers;
  }
}

TEST(DataflowTimeline, CreditsAreSpaceThatIsWaitedFor) {
  const auto log = over_link({.flow = {.kind = FlowSettings::Kind::kCredit, .credits = 1}});
  // A word arrives after 6 cycles, and its credit is back 4 later.
  EXPECT_EQ(text_of(log->series()[2]),
            "0 send: wait-for-space link 0:0 to 1:0 (receive of device 1) 1-10 11-20");
}

TEST(DataflowTimeline, LinksThatAreDecidedSayTheSame) {
  for (const int workers : {1, 2}) {
    EXPECT_EQ(
        text_of(*over_link({.flow = {.kind = FlowSettings::Kind::kNone, .places = 16}, .workers = workers})),
        text_of(*over_link({.workers = workers})))
        << workers;
  }
}

// One writes four words before it reads, the other answers the first one by three.
TEST(DataflowTimeline, ADeadlockWritesItWithTheWaitsThatHaveNoEnd) {
  const auto path = std::filesystem::path(testing::TempDir()) / "deadlock.timeline.json";
  std::filesystem::remove(path);
  stream<int, 2> asked("asked");
  stream<int, 2> answered("answered");
  Host host(std::make_shared<Fabric>(FabricSettings{.deadlock_timeline = path}), 0, kDevice);
  host.start("ask", {}, [&] {
    spend_cycles(20);
    produce(asked, 4);
    sum(answered, 4);
  });
  host.start("answer", {}, [&] {
    sum(asked, 1);
    spend_cycles(59);
    produce(answered, 3);
  });
  try {
    host.finish();
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.cause().ends_with("; timeline in " + path.string())) << error.what();
  }
  ActivityLog read;
  read.merge(json_in(path));
  EXPECT_EQ(text_of(read), (Lines{
                               "0 answer: compute 21-82",
                               "0 answer: wait-for-word asked (ask) 0-21",
                               "0 answer: wait-for-space answered 82-85",
                               "0 ask: compute 0-23",
                               "0 ask: wait-for-space asked (answer) 23-85",
                           }));
}

TEST(DataflowTimeline, IsTheSameForAnyNumberOfWorkersAndIsBounded) {
  const auto run = [](int workers) {
    const LinkCase link{.workers = workers, .words = 20'000, .interval = 3, .read_interval = 2, .most = 50};
    return runtime::timeline_document(*over_link(link), "", "");
  };
  const auto one = run(1);
  EXPECT_EQ(one, run(2));
  std::size_t pieces = 0;
  for (const auto& series : one.at("series")) pieces += series.at("activities").size();
  EXPECT_LE(pieces, 50U);
  EXPECT_GT(one.at("resolution").get<double>(), 0);
}

}  // namespace
}  // namespace fabricmark::dataflow
