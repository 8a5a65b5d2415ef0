#include "device/replications.hpp"

#include <algorithm>

#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/signature.hpp"
#include "device_support.hpp"

namespace fabricmark::device {

namespace {

// Each step needs the one before, so that no compiler shortens the loop.
constexpr const char* kSpin =
    "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
    "void spin(__global ulong* x, uint steps) {\n"
    "  ulong value = *x;\n"
    "  for (uint i = 0; i < steps; ++i) value = value * 6364136223846793005UL + 1442695040888963407UL;\n"
    "  *x = value;\n"
    "}\n";

const EntryPoint kEntry{"spin", {{"x", ArgumentKind::kBuffer}, {"steps", ArgumentKind::kUint}}};

class OnReplications : public test_support::OnDevice {
 protected:
  /// Replications of the kernel, each with a value of its own.
  Replications prepared(int count, unsigned steps, Timeline& timeline) {
    program_ = build_from_source(device(), kSpin, "spin.cl", {}).program;
    Replications kernels(device(), program_, kEntry, count, timeline);
    for (int i = 0; i < count; ++i) {
      buffers_.emplace_back(device(), sizeof(std::uint64_t));
      kernels.set(i, {{"x", buffers_.back()}, {"steps", steps}});
    }
    return kernels;
  }
  Program program_;
  std::vector<Buffer> buffers_;
};

TEST_F(OnReplications, TakeArgumentsOfTheirNamesAndTypesOnly) {
  Timeline timeline(false);
  Replications kernels = prepared(1, 1, timeline);
  EXPECT_THROW(kernels.set(0, {{"y", 1U}}), std::logic_error);
  EXPECT_THROW(kernels.set(0, {{"steps", 1.0}}), std::logic_error);
  EXPECT_THROW(kernels.set(0, {{"steps", buffers_[0]}}), std::logic_error);
  EXPECT_THROW(kernels.set(0, {{"x", 1U}}), std::logic_error);
  kernels.set(0, {{"steps", 0xFFFFFFFFUL}});
  const std::string message = test::message_of([&] { kernels.set(0, {{"steps", 0x100000000UL}}); });
  EXPECT_TRUE(test::mentions(message, "'steps' of the kernel 'spin' cannot be 4294967296")) << message;
}

TEST_F(OnReplications, AreRefusedWhereDeclaredAndBuiltArgumentsDiffer) {
  prepared(1, 1, *std::make_unique<Timeline>(false));
  const auto refused = [&](std::vector<Argument> arguments) {
    return test::message_of([&] { check_declared(program_, {"spin", std::move(arguments)}, "spin.cl"); });
  };
  check_declared(program_, kEntry, "spin.cl");
  check_declared(program_, {"elsewhere", {}}, "spin.cl");
  EXPECT_TRUE(test::mentions(refused({{"x", ArgumentKind::kBuffer}}), "takes 2 arguments"));
  EXPECT_TRUE(test::mentions(refused({kEntry.arguments[0], {"turns", ArgumentKind::kUint}}), "argument 2"));
  EXPECT_TRUE(
      test::mentions(refused({kEntry.arguments[0], {"steps", ArgumentKind::kUlong}}), "'ulong steps'"));
  EXPECT_TRUE(test::mentions(refused({{"x", ArgumentKind::kUint}, kEntry.arguments[1]}), "argument 1"));
  Timeline timeline(false);
  const std::string message = test::message_of([&] {
    Replications(device(), program_, {"spin", {}}, 1, timeline);
  });
  EXPECT_TRUE(test::mentions(message, "takes 2 arguments, and kernel.toml declares 0")) << message;
}

TEST_F(OnReplications, AreEntryPointsOfTheirOwnWhereTheDeviceNeedsThem) {
  setenv("FABRICMARK_REPLICAS", "entries", 1);
  const std::string source =
      "__kernel void put_0(__global uint* x) { *x = 10; }\n__kernel void put_1(__global uint* x) { *x = 11; "
      "}\n";
  const Program program = build_from_source(device(), source, "put.cl", {}).program;
  EntryPoint entry{"put", {{"x", ArgumentKind::kBuffer}}, true};
  Timeline timeline(false);
  Replications kernels(device(), program, entry, 2, timeline);
  std::vector<std::uint32_t> found(2);
  for (int i : {0, 1}) kernels.set(i, {{"x", buffers_.emplace_back(device(), sizeof(std::uint32_t))}});
  kernels.run("put", {{}, {}});
  kernels.transfer([&](int i) {
    const auto at = static_cast<std::size_t>(i);
    buffers_[at].read(kernels.queue(i), &found[at], sizeof(std::uint32_t));
  });
  EXPECT_EQ(found, (std::vector<std::uint32_t>{10, 11}));
  const auto missing = [&](int count) {
    return test::message_of([&] { Replications(device(), program, entry, count, timeline); });
  };
  EXPECT_TRUE(test::mentions(missing(3), "no kernel 'put_2'"));
  setenv("FABRICMARK_REPLICAS", "compute-units", 1);
  EXPECT_TRUE(test::mentions(missing(1), "no kernel 'put:{put_1}'"));
  unsetenv("FABRICMARK_REPLICAS");
  entry.is_replicated = false;
  EXPECT_TRUE(test::mentions(missing(1), "no kernel 'put'"));
}

TEST_F(OnReplications, RunAtTheSameTime) {
  if (found_.info.compute_units < 2) GTEST_SKIP() << "a device with one compute unit";
  Timeline timeline(true);
  Replications kernels = prepared(2, 40'000'000, timeline);
  constexpr int kTries = 6;  // other work on the machine may keep them apart once
  bool has_overlap = false;
  for (int attempt = 0; attempt < kTries && !has_overlap; ++attempt) {
    kernels.run("spin", {{}, {}});
    timeline.collect(true);
    const auto& entries = timeline.entries();
    ASSERT_GE(entries.size(), 2U);
    const KernelTimes& first = entries[entries.size() - 2];
    const KernelTimes& second = entries.back();
    has_overlap = std::max(first.started, second.started) < std::min(first.ended, second.ended);
  }
  EXPECT_TRUE(has_overlap);
}

TEST_F(OnReplications, LeaveTimesInOrderInTheTimeline) {
  Timeline timeline(true);
  Replications kernels = prepared(3, 1000, timeline);
  timeline.start_repetition(0);
  kernels.run("first", {{}, {}, {}});
  timeline.collect(false);
  EXPECT_TRUE(timeline.entries().empty()) << "warm-up";
  timeline.start_repetition(4);
  kernels.run("second", {{}, {0, 0}, {}});
  timeline.collect(true);
  ASSERT_EQ(timeline.entries().size(), 2U) << "an empty geometry starts nothing";
  EXPECT_EQ(timeline.entries()[1].replication, 2);
  for (const KernelTimes& times : timeline.entries()) {
    EXPECT_EQ(times.operation, "second");
    EXPECT_EQ(times.kernel, "spin");
    EXPECT_EQ(times.repetition, 4);
    EXPECT_LE(times.queued, times.submitted);
    EXPECT_LE(times.submitted, times.started);
    EXPECT_LE(times.started, times.ended);
  }
}

TEST_F(OnReplications, StartOneAfterOther) {
  Timeline timeline(true);
  Replications kernels = prepared(2, 1'000'000, timeline);
  const Event first = kernels.start("first", 0, {});
  const Event second = kernels.start("second", 1, {}, {first});
  second.wait();
  timeline.collect(true);
  ASSERT_EQ(timeline.entries().size(), 2U);
  EXPECT_EQ(timeline.entries()[1].operation, "second");
  EXPECT_EQ(timeline.entries()[1].replication, 1);
  EXPECT_LE(timeline.entries()[0].ended, timeline.entries()[1].started);
}

TEST_F(OnReplications, StandBesideWhatTheHostDoes) {
  Timeline timeline(true);
  Replications kernels = prepared(1, 1000, timeline);
  const auto begin = Timeline::Clock::now();
  constexpr std::size_t kRuns = 20;  // on a busy machine a call is interrupted; not all of them are
  for (std::size_t i = 0; i < kRuns; ++i) kernels.run("kernel", {{}});
  timeline.add_host_span("host", begin, Timeline::Clock::now());
  timeline.collect(true);
  ASSERT_EQ(timeline.entries().size(), kRuns + 1);
  const KernelTimes& first = timeline.entries().front();
  const KernelTimes& last = timeline.entries()[kRuns - 1];
  const KernelTimes& host = timeline.entries().back();
  EXPECT_EQ(host.operation, "host");
  EXPECT_LE(host.started, first.started);
  EXPECT_GE(host.ended, last.ended - 1e-3);  // the clocks are matched as well as the shortest call is short
  EXPECT_LE(host.ended, last.ended + 1);
}

TEST_F(OnReplications, SayNothingOfTheHostWithoutTheDevicesClock) {
  Timeline timeline(true);
  timeline.add_host_span("host", Timeline::Clock::now(), Timeline::Clock::now());
  timeline.collect(true);
  EXPECT_TRUE(timeline.entries().empty());
}

TEST_F(OnReplications, TransferOnTheirOwnQueues) {
  Timeline timeline(false);
  Replications kernels = prepared(4, 1, timeline);
  const std::vector<std::uint64_t> values{1, 2, 3, 4};
  std::vector<std::uint64_t> back(4);
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  kernels.transfer(
      [&](int i) { buffers_[at(i)].write(kernels.queue(i), &values[at(i)], sizeof(std::uint64_t)); });
  kernels.run("spin", {{}, {}, {}, {}});
  kernels.transfer(
      [&](int i) { buffers_[at(i)].read(kernels.queue(i), &back[at(i)], sizeof(std::uint64_t)); });
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(back[i], values[i] * 6364136223846793005U + 1442695040888963407U);
  EXPECT_TRUE(timeline.entries().empty());
}

TEST_F(OnReplications, StartAsAGroupOnlyWhereTheDevicePromisesThatTheyRunAtOnce) {
  Timeline timeline(false);
  Replications kernels = prepared(2, 10, timeline);
  const std::vector<GroupMember> both{{&kernels, 0}, {&kernels, 1}};
  DeviceInfo info = device().info();
  info.device_class = DeviceClass::kCpu;
  const std::string message = test::message_of([&] { start_group(info, "spin", both); });
  EXPECT_TRUE(test::mentions(message, "2 kernels") && test::mentions(message, "emulator")) << message;
  info.device_class = DeviceClass::kEmulator;
  info.kernel_threads = 1;
  EXPECT_TRUE(test::mentions(test::message_of([&] { start_group(info, "spin", both); }), "2 kernels"));
  info.kernel_threads = 2;
  for (const Event& end : start_group(info, "spin", both)) end.wait();
  info.device_class = DeviceClass::kFpga;
  for (const Event& end : start_group(info, "spin", both)) end.wait();
  EXPECT_THROW(start_group(info, "spin", {{&kernels, 0}, {&kernels, 0}}), std::logic_error);
}

}  // namespace

}  // namespace fabricmark::device
