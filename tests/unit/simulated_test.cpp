// A device whose commands are simulated: when each begins and ends on the clock of its rank.
#include "device/simulated.hpp"

#include <map>

#include "device/dry_run.hpp"
#include "device/memory.hpp"
#include "device/replications.hpp"
#include "support.hpp"

namespace fabricmark::device {

namespace {

using test::message_of;

/// As many seconds as the argument `length` says; nothing is known of the kernel "other".
class LengthCost : public KernelCost {
 public:
  explicit LengthCost(const std::string& name) : entry_(name.substr(0, name.find('_'))) {}
  [[nodiscard]] const std::string& entry() const override { return entry_; }
  void set_number(unsigned index, const void* value, std::size_t bytes) override {
    ASSERT_EQ(index, 1U);
    ASSERT_EQ(bytes, sizeof(std::uint32_t));
    seconds_ = *static_cast<const std::uint32_t*>(value);
  }
  [[nodiscard]] std::optional<double> seconds() const override {
    return entry_ == "other" ? std::nullopt : std::optional(seconds_);
  }

 private:
  std::string entry_;
  double seconds_ = 0;
};

/// A start takes 1 s, a copy as many seconds as bytes to the device and twice as many from there.
class Costs : public CommandCosts {
 public:
  [[nodiscard]] double start_seconds() const override { return 1; }
  [[nodiscard]] double copy_seconds(bool is_to_device, std::size_t bytes) const override {
    return static_cast<double>(bytes) * (is_to_device ? 1 : 2);
  }
  [[nodiscard]] std::unique_ptr<KernelCost> kernel(const std::string& name) const override {
    return std::make_unique<LengthCost>(name);
  }
};

class Simulated : public testing::Test {
 protected:
  Simulated() { device_.simulate(std::make_shared<Costs>(), clock_, Moving::kNothing); }

  Replications kernels(int count, const std::string& name = "k") {
    const EntryPoint entry{name, {{"memory", ArgumentKind::kBuffer}, {"length", ArgumentKind::kUint}}, true};
    const Program program = device_.implementation().build("", "");
    return {device_, program, entry, count, timeline_};
  }
  static void set_length(Replications& kernels, std::initializer_list<unsigned> lengths) {
    int replica = 0;
    for (const unsigned length : lengths) kernels.set(replica++, {{"length", length}});
  }

  SimulatedClock clock_;
  Device device_{dry_run_platform().devices.front()};
  Timeline timeline_{false};
  std::byte host_[64]{};
};

TEST_F(Simulated, ReplicasRunBesideEachOtherOnceTheHostHasStartedThem) {
  Replications four = kernels(4);
  set_length(four, {10, 10, 10, 10});
  four.start("k", {4, Geometry{}});
  EXPECT_EQ(clock_.seconds(), 4) << "the host has started four";
  four.finish();
  EXPECT_EQ(clock_.seconds(), 14) << "the last began at 4";
}

TEST_F(Simulated, WhatIsEmptyIsNotStarted) {
  Replications two = kernels(2);
  set_length(two, {10, 99});
  two.run("k", {{}, {0, 1}});
  EXPECT_EQ(clock_.seconds(), 11);
}

TEST_F(Simulated, CommandsOfAQueueRunInTurnAndAfterWhatTheyWaitFor) {
  Replications two = kernels(2);
  set_length(two, {10, 3});
  const Event first = two.start("k", 0, {});            // 1 to 11
  const Event second = two.start("k", 1, {}, {first});  // 11 to 14
  const Event third = two.start("k", 0, {});            // 11 to 21
  EXPECT_EQ(clock_.seconds(), 3);
  EXPECT_EQ(first.modelled_end(), 11);
  EXPECT_EQ(second.modelled_end(), 14);
  EXPECT_EQ(third.modelled_end(), 21);
  EXPECT_TRUE(third.has_ended()) << "on the dry-run device";
  EXPECT_EQ(clock_.seconds(), 3) << "asking moves no clock";
  second.wait();
  EXPECT_EQ(clock_.seconds(), 14);
  first.wait();
  EXPECT_EQ(clock_.seconds(), 14);
  two.finish();
  EXPECT_EQ(clock_.seconds(), 21);
}

TEST_F(Simulated, OneReplicaRunsInTurnWhoeverStartsIt) {
  Replications one = kernels(1);
  Replications same = kernels(1);
  Replications other = kernels(1, "l");
  for (Replications* const each : {&one, &same, &other}) set_length(*each, {10});
  one.start("k", {Geometry{}});    // 1 to 11
  same.start("k", {Geometry{}});   // 11 to 21
  other.start("k", {Geometry{}});  // 3 to 13
  other.finish();
  EXPECT_EQ(clock_.seconds(), 13);
  same.finish();
  EXPECT_EQ(clock_.seconds(), 21);
}

TEST_F(Simulated, CopiesShareTheWayInTheirDirection) {
  Buffer buffer(device_, 64);
  const Queue left = device_.queue();
  const Queue right = device_.queue();
  buffer.write(left, host_, 10);   // 0 to 10
  buffer.write(right, host_, 10);  // 10 to 20
  EXPECT_EQ(clock_.seconds(), 0) << "the host only queues them";
  buffer.read(left, host_, 3);  // 10 to 16
  left.finish();
  EXPECT_EQ(clock_.seconds(), 16);
  right.finish();
  EXPECT_EQ(clock_.seconds(), 20);
}

TEST_F(Simulated, AKernelWaitsForTheCopiesOfItsQueueAndForOthersThatItIsToldOf) {
  Buffer buffer(device_, 64);
  Replications one = kernels(1);
  set_length(one, {5});
  const Queue other = device_.queue();
  Event copied;
  buffer.write(one.queue(0), host_, 4);       // 0 to 4
  buffer.write(other, host_, 8, 0, &copied);  // 4 to 12
  one.start("k", {Geometry{}});               // 4 to 9
  EXPECT_EQ(one.start("k", 0, {}, {copied}).modelled_end(), 17);
  other.begin_after({one.start("k", 0, {})});  // 17 to 22
  buffer.read(other, host_, 1);                // 22 to 24
  other.finish();
  EXPECT_EQ(clock_.seconds(), 24);
}

TEST_F(Simulated, MappingAndMigratingCopy) {
  Buffer buffer(device_, 8);
  const Queue queue = device_.queue();
  std::byte* mapped = buffer.map(queue, /*for_writing=*/true, 8);
  queue.finish();
  EXPECT_EQ(clock_.seconds(), 0) << "what is written does not come from the device";
  buffer.unmap(queue, mapped);
  queue.finish();
  EXPECT_EQ(clock_.seconds(), 8);
  mapped = buffer.map(queue, /*for_writing=*/false, 4);
  buffer.unmap(queue, mapped);
  queue.finish();
  EXPECT_EQ(clock_.seconds(), 16);
  buffer.migrate(queue, /*to_host=*/false);
  buffer.part(0, 2).migrate(queue, /*to_host=*/true);
  queue.finish();
  EXPECT_EQ(clock_.seconds(), 16 + 8 + 4);
}

TEST_F(Simulated, SeveralBuffersMigrateByOneCommand) {
  const std::vector<Buffer> buffers{Buffer(device_, 8), Buffer(device_, 4)};
  const Queue queue = device_.queue();
  Event done;
  migrate(queue, buffers, /*to_host=*/false, &done);
  EXPECT_EQ(done.modelled_end(), 8 + 4);
  queue.finish();
  EXPECT_EQ(clock_.seconds(), 8 + 4);
}

TEST_F(Simulated, NothingElseTakesTime) {
  Buffer buffer(device_, 64);
  Buffer other(device_, 64);
  const Queue queue = device_.queue();
  buffer.fill(queue, std::byte{1});
  buffer.copy_to(queue, other);
  queue.flush();
  queue.finish();
  const Queue unsimulated = device_.untimed_queue();
  buffer.write(unsimulated, host_, 64);
  unsimulated.finish();
  EXPECT_EQ(clock_.seconds(), 0);
}

TEST_F(Simulated, ARestartEndsAllThatWasBefore) {
  Replications one = kernels(1);
  set_length(one, {1000});
  const Event before = one.start("k", 0, {});
  clock_.restart();
  EXPECT_EQ(before.modelled_end(), 0);
  set_length(one, {2});
  one.run("k", {Geometry{}});
  before.wait();
  EXPECT_EQ(clock_.seconds(), 3);
}

TEST_F(Simulated, AKernelOfUnknownCostLeavesThePartWithoutATime) {
  Replications unknown = kernels(1, "other");
  unknown.run("k", {Geometry{}});
  EXPECT_FALSE(clock_.is_known());
  EXPECT_EQ(clock_.unknown().size(), 1U);
  EXPECT_TRUE(test::mentions(*clock_.unknown().begin(), "the kernel other"));
  clock_.restart();
  EXPECT_TRUE(clock_.is_known());
  EXPECT_EQ(clock_.unknown().size(), 1U) << "the reasons stay";
}

TEST(SimulatedClock, WaitsOnlyForwards) {
  SimulatedClock clock;
  clock.advance_to(2);
  clock.advance_to(1);
  EXPECT_EQ(clock.seconds(), 2);
  const SimulatedClock::Moment moment = clock.at(5);
  EXPECT_EQ(clock.seconds_of(moment), 5);
  clock.restart();
  EXPECT_EQ(clock.seconds(), 0);
  EXPECT_EQ(clock.seconds_of(moment), 0);
  EXPECT_TRUE(
      test::mentions(message_of([&] { clock.advance_to(-1); }, ExitCode::kEnvironment), "a model took"));
}

}  // namespace

}  // namespace fabricmark::device
