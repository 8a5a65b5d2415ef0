// Messages through shared memory between devices whose copies take known times, and that memory itself.
#include "transport/host/lane.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "fake_device.hpp"
#include "support.hpp"
#include "transport/host/near_ranks.hpp"
#include "transport/host/shared_pages.hpp"
#include "transport/host/staging.hpp"

namespace fabricmark::transport {

namespace {

using device::test_support::fake_device;
using device::test_support::FakeRates;
using device::test_support::FakeTime;

std::byte content(std::size_t i) { return std::byte((i * 31 + i / 256 * 7) & 0xFF); }

/// One message from a device to another.
class Passage {
 public:
  Passage(const FakeRates& rates, const LanePlan& plan)
      : found_(fake_device(time_, rates)),
        plan_(plan),
        from_(found_),
        to_(found_),
        slots_(plan.staging_bytes()),
        outgoing_(from_, plan.bytes, device::MemoryKind::kBuffer),
        incoming_(to_, plan.bytes, device::MemoryKind::kBuffer),
        reads_(from_.queue()),
        writes_(to_.queue()) {}

  /// Seconds of its clock; the number of wrong bytes is then known.
  double seconds() {
    std::vector<std::byte> bytes(plan_.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = content(i);
    outgoing_.write(0, bytes);
    const double start = time_.now();
    Lane out(Lane::Side::kSends, {&outgoing_, 0, plan_.bytes}, plan_, slots_.data(), state_, reads_);
    Lane in(Lane::Side::kReceives, {&incoming_, 0, plan_.bytes}, plan_, slots_.data(), state_, writes_);
    while (!out.has_ended() || !in.has_ended()) {
      bool has_moved = false;
      for (Lane* lane : {&out, &in}) {
        has_moved = lane->hand_over() || has_moved;
        while (lane->start_one()) has_moved = true;
      }
      if (!has_moved && !time_.go_on()) throw std::logic_error("nothing moves");
    }
    const double end = time_.now();
    incoming_.read(0, bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) wrong_ += bytes[i] != content(i) ? 1 : 0;
    return end - start;
  }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }

 private:
  FakeTime time_;
  device::FoundDevice found_;
  LanePlan plan_;
  device::Device from_, to_;
  std::vector<std::byte> slots_;
  LaneState state_;
  Memory outgoing_, incoming_;
  device::Queue reads_, writes_;
  std::size_t wrong_ = 0;
};

/// Of all chunks one after the other, and of the first and the last.
struct Times {
  double read = 0, write = 0, first_read = 0, last_write = 0;
};
Times times_of(const FakeRates& rates, const LanePlan& plan) {
  Times times;
  for (std::size_t start = 0; start < plan.bytes; start += plan.chunk) {
    const std::size_t bytes = std::min(plan.chunk, plan.bytes - start);
    times.read += rates.read(bytes);
    times.write += rates.write(bytes);
    if (start == 0) times.first_read = rates.read(bytes);
    times.last_write = rates.write(bytes);
  }
  return times;
}

const std::vector<FakeRates> kRates{{5e-6, 20e-12, 20e-12}, {5e-6, 80e-12, 20e-12}, {5e-6, 18e-12, 40e-12}};

TEST(LaneBetweenFakeDevices, TakesTheSlowestStageAndTheFirstAndLastChunk) {
  for (const FakeRates& rates : kRates) {
    for (const std::size_t bytes : {std::size_t{1} << 20, (std::size_t{1} << 22) + 12345}) {
      for (const std::size_t chunk : {std::size_t{64} << 10, std::size_t{256} << 10}) {
        for (const std::size_t slots : {2, 4, 0}) {
          const LanePlan plan = LanePlan::of(bytes, chunk, slots);
          Passage passage(rates, plan);
          const double found = passage.seconds();
          const Times times = times_of(rates, plan);
          const double slowest = std::max(times.read, times.write);
          EXPECT_LE(found, 1.05 * (slowest + times.first_read + times.last_write));
          EXPECT_GE(found, slowest);
          EXPECT_LT(found, times.read + times.write) << "copies overlap";
          EXPECT_EQ(passage.wrong(), 0U);
        }
      }
    }
  }
}

TEST(LaneBetweenFakeDevices, TakesTheSumOfBothStagesWithoutOverlap) {
  for (const FakeRates& rates : kRates) {
    for (const std::size_t piece : {std::size_t{0}, std::size_t{64} << 10}) {
      const LanePlan plan = LanePlan::of(std::size_t{1} << 20, piece, 1);
      Passage passage(rates, plan);
      const Times times = times_of(rates, plan);
      EXPECT_NEAR(passage.seconds(), times.read + times.write, 1e-9);
      EXPECT_EQ(passage.wrong(), 0U);
    }
  }
}

TEST(LaneBetweenFakeDevices, CarriesMessagesOfAnySizeInAnyChunksAndSlots) {
  for (const std::size_t bytes : {1UL, 2UL, 999UL, 1000UL, 1001UL, 70001UL}) {
    for (const std::size_t chunk : {0UL, 1UL, 7UL, 1000UL, 1UL << 20}) {
      if (chunk > 0 && bytes / chunk > 1001) continue;
      for (const std::size_t slots : {0UL, 1UL, 2UL, 3UL, 5000UL}) {
        Passage passage({1e-6, 1e-9, 2e-9}, LanePlan::of(bytes, chunk, slots));
        passage.seconds();
        EXPECT_EQ(passage.wrong(), 0U) << bytes << " bytes in chunks of " << chunk << ", slots " << slots;
      }
    }
  }
}

TEST(LanePlan, NeedsNoMoreSlotsThanChunks) {
  EXPECT_EQ(LanePlan::of(1000, 300, 8).slots, 4U);
  EXPECT_EQ(LanePlan::of(1000, 300, 2).staging_bytes(), 600U);
  EXPECT_EQ(LanePlan::of(1000, 0, 8).staging_bytes(), 1000U);
  EXPECT_EQ(LanePlan::of(1000, 5000, 0).chunk, 1000U);
}

TEST(SharedPages, AreSeenByWhoOpensThemAsLongAsTheirMakerHasThem) {
  std::shared_ptr<SharedPages> made = SharedPages::make(10000);
  const SharedAddress address = made->address();
  const std::shared_ptr<SharedPages> opened = SharedPages::open(address);
  ASSERT_NE(opened, nullptr);
  EXPECT_GE(made->span().size(), 10000U);
  EXPECT_EQ(made->span().size(), opened->span().size());
  EXPECT_NE(made->span().data(), opened->span().data());
  EXPECT_EQ(opened->span().back(), std::byte{0});
  made->span()[9999] = std::byte{7};
  EXPECT_EQ(opened->span()[9999], std::byte{7});
  made.reset();
  EXPECT_EQ(opened->span()[9999], std::byte{7}) << "who has them keeps them";
  EXPECT_EQ(SharedPages::open(address), nullptr) << "nobody else finds them";
  // Others that have got the descriptor's number.
  const std::shared_ptr<SharedPages> others = SharedPages::make(10000);
  EXPECT_EQ(others->address().file, address.file);
  EXPECT_EQ(SharedPages::open(address), nullptr);
}

TEST(SharedPages, AreNotTakenFromAnythingElse) {
  SharedAddress address = SharedPages::make(1)->address();
  for (const std::int64_t file : {0, 1, 2, 1000000}) {
    address.file = file;
    EXPECT_EQ(SharedPages::open(address), nullptr) << file;
  }
  const std::shared_ptr<SharedPages> made = SharedPages::make(1);
  address = made->address();
  address.bytes += device::kPageBytes;
  EXPECT_EQ(SharedPages::open(address), nullptr);
  address = made->address();
  address.process = 999999999;
  EXPECT_EQ(SharedPages::open(address), nullptr);
}

TEST(SharedPages, AreNamedWhereTheSystemHasNotAsMany) {
  const std::string message =
      test::message_of([] { SharedPages::make(std::size_t{1} << 62); }, ExitCode::kEnvironment);
  EXPECT_TRUE(test::mentions(message, "--staging private")) << message;
}

TEST(SharedStaging, IsTakenWhenTheReceiverHasPinnedIt) {
  FakeTime time;
  const device::Device device(fake_device(time, {}));
  const std::shared_ptr<SharedStaging> own = SharedStaging::make(device, 100, 10000);
  EXPECT_FALSE(own->is_taken());
  const std::shared_ptr<SharedStaging> other = SharedStaging::open(device, own->address(), own->lanes());
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(own->is_taken());
  own->lane(99).read = 5;
  EXPECT_EQ(other->lane(99).read, 5U);
  EXPECT_EQ(other->lane(98).read, 0U);
  own->slots()[9999] = std::byte{3};
  EXPECT_EQ(other->slots()[9999], std::byte{3});
  EXPECT_EQ(other->lane(99).read, 5U) << "slots begin behind the states";
}

TEST(NearRanks, AreThoseWithDevicesThatPinMemory) {
  runtime::run_in_process(3, [](runtime::Communicator& ranks) {
    FakeTime time;
    device::FoundDevice found = fake_device(time, {});
    found.info.is_dry_run = ranks.rank() == 1;
    const device::Device device(found);
    const std::vector<bool> near = near_ranks(ranks, device);
    const bool can_pin = ranks.rank() != 1;
    EXPECT_EQ(near, (std::vector<bool>{can_pin, false, can_pin})) << "rank " << ranks.rank();
    return 0;
  });
}

}  // namespace

}  // namespace fabricmark::transport
