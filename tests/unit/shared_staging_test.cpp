// The path over the host through staging memory that ranks share: ranks of this process on the first device.
#include <array>
#include <random>
#include <tuple>

#include "device/dry_run.hpp"
#include "ring_support.hpp"
#include "transport_caller_support.hpp"

namespace fabricmark::transport {

namespace {

using runtime::Communicator;
using runtime::Context;
using test::mentions;
using test::message_of;
using test_support::kShortTimeout;
using test_support::kTimeout;
using test_support::OnRing;
using test_support::options_of;
using test_support::Ring;
using test_support::waiting;

/// A transport that takes no other way between ranks that share memory.
class Shared : public test_support::OverHost {
 public:
  Shared(const Context& context, std::int64_t chunk, std::int64_t slots, Waiting waiting = Waiting::kSpin)
      : OverHost(context, chunk, /*zero_copy=*/false, waiting, StagingUse::kShared, slots) {}
};

device::Selection dry_run_selection() {
  device::Selection selection;
  selection.platform = "dry-run";
  return selection;
}

using StagedShape = std::tuple<int, std::int64_t, std::int64_t>;  // ranks, bytes of a chunk, slots
class SharedStagingRing : public OnRing, public testing::WithParamInterface<StagedShape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, SharedStagingRing,
                         testing::Combine(testing::Values(1, 2, 3, 4), testing::Values(0, 1000, 4099, 100003),
                                          testing::Values(0, 1, 2, 4)));

TEST_P(SharedStagingRing, CarriesMessagesOfAnySizes) {
  const auto [count, chunk, slots] = GetParam();
  on_ranks(count, waiting(kTimeout),
           [chunk = chunk, slots = slots](const auto& context, Communicator& ranks) {
             Shared transport(context, chunk, slots);
             for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{
                      {1}, {0}, {100003}, {1, 65536, 0, 7, 40000, 1}, {200000, 3, 200000}}) {
               Ring ring(transport, ranks, sizes);
               for (std::uint32_t round = 1; round <= 3; ++round) {
                 ring.prepare(round);
                 ring.exchange();
                 EXPECT_EQ(ring.count_wrong(), 0U) << "round " << round;
               }
             }
           });
}

TEST_F(OnRing, SharedMemoryCarriesRandomMessages) {
  on_ranks(3, waiting(kTimeout), [](const auto& context, Communicator& ranks) {
    std::mt19937 random(17);  // the same on all ranks
    for (int trial = 0; trial < 12; ++trial) {
      Shared transport(context, std::uniform_int_distribution<>(0, 9000)(random),
                       std::uniform_int_distribution<>(0, 5)(random));
      std::vector<std::size_t> sizes;
      for (int i = std::uniform_int_distribution<>(1, 40)(random); i > 0; --i)
        sizes.push_back(std::uniform_int_distribution<std::size_t>(0, 30000)(random));
      Ring ring(transport, ranks, sizes);
      for (std::uint32_t round = 1; round <= 2; ++round) {
        ring.prepare(round);
        ring.exchange();
        EXPECT_EQ(ring.count_wrong(), 0U) << "trial " << trial;
      }
    }
  });
}

// The first transfer fills its slots, and nobody takes them before the second one has arrived.
TEST_F(OnRing, TransfersThroughSharedMemoryDoNotHoldUpEachOther) {
  on_ranks(2, waiting(kTimeout), [](const auto& context, Communicator& ranks) {
    Shared transport(context, 1000, 1);
    Ring first(transport, ranks, {70001});
    Ring second(transport, ranks, {50000, 3}, /*first_tag=*/10);
    for (std::uint32_t round = 1; round <= 3; ++round) {
      first.prepare(round);
      second.prepare(round);
      const device::Event sent = transport.start(first.sends(), {});
      const device::Event other_sent = transport.start(second.sends(), {});
      transport.start({}, second.receives()).wait();
      transport.start({}, first.receives()).wait();
      other_sent.wait();
      sent.wait();
      EXPECT_EQ(first.count_wrong() + second.count_wrong(), 0U);
    }
  });
}

TEST_F(OnRing, AMessageThatDoesNotComeThroughSharedMemoryIsNamed) {
  on_ranks(2, waiting(kShortTimeout), [](const auto& context, Communicator& ranks) {
    Shared transport(context, 1000, 2);
    Ring ring(transport, ranks, {2500});
    ring.prepare(1);
    ranks.barrier();
    const std::vector<Message> receives = ring.receives();
    const std::string message = message_of([&] { transport.exchange({}, receives); }, ExitCode::kEnvironment);
    EXPECT_TRUE(mentions(message, "2500 bytes from rank " + std::to_string(1 - ranks.rank()))) << message;
    ranks.barrier();
    ring.exchange();
    EXPECT_EQ(ring.count_wrong(), 0U) << "the next message finds memory of its own";
  });
}

// Both ranks look at the message some times, in step; then the sender looks no more.
TEST_F(OnRing, ARankThatStopsInTheMiddleOfAMessageIsNamed) {
  on_ranks(2, waiting(kShortTimeout), [](const auto& context, Communicator& ranks) {
    constexpr std::size_t kBytes = 1000000;
    Shared transport(context, 1000, 1);
    const std::unique_ptr<Memory> memory = transport.allocate(kBytes);
    const Message message{{memory.get(), 0, kBytes}, 1 - ranks.rank(), 0};
    const device::Event event = ranks.rank() == 1 ? transport.send(message) : transport.receive(message);
    constexpr int kLooks = 100;  // in each no more than one chunk of a thousand moves
    for (int look = 0; look < kLooks; ++look) {
      EXPECT_FALSE(event.has_ended());
      ranks.barrier();
    }
    if (ranks.rank() == 0) {
      const std::string words = message_of([&] { event.wait(); }, ExitCode::kEnvironment);
      EXPECT_TRUE(mentions(words, "of a message of 1000000 bytes from rank 1 no more than")) << words;
    }
    ranks.barrier();
    if (ranks.rank() == 1) {
      const std::string words = message_of([&] { event.wait(); }, ExitCode::kEnvironment);
      EXPECT_TRUE(mentions(words, "1000000 bytes to rank 0")) << words;
    }
    ranks.barrier();
  });
}

TEST_F(OnRing, MessagesOfOtherLengthsThroughSharedMemoryAreAnError) {
  on_ranks(2, waiting(kShortTimeout), [](const auto& context, Communicator& ranks) {
    Shared transport(context, 1000, 2);
    const std::unique_ptr<Memory> memory = transport.allocate(5000);
    const Message sent{{memory.get(), 0, 5000}, 1, 0};
    const Message wanted{{memory.get(), 0, 4000}, 0, 0};
    // What has come already is looked at when the receive begins.
    const std::string words =
        message_of([&] { (ranks.rank() == 0 ? transport.send(sent) : transport.receive(wanted)).wait(); },
                   ExitCode::kEnvironment);
    EXPECT_TRUE(mentions(words, ranks.rank() == 0 ? "5000 bytes to rank 1" : "4000")) << words;
    ranks.barrier();
  });
}

// A rank on a dry-run device shares no memory: of one exchange some messages go this way, some that.
TEST_F(OnRing, SomeRanksShareMemoryAndOthersDoNot) {
  const std::vector<device::FoundDevice> dry_runs = device::find_devices(dry_run_selection());
  for (const std::int64_t chunk : {0, 1000}) {
    runtime::run_in_process(3, [&](Communicator& ranks) {
      const bool is_dry_run = ranks.rank() == 2;
      const test_support::Setting setting(is_dry_run ? dry_runs.front() : found_, ranks, waiting(kTimeout),
                                          {});
      Shared transport(setting.context(), chunk, 2);
      constexpr std::size_t kBytes = 5000;
      const std::unique_ptr<Memory> out = transport.allocate(kBytes);
      const std::unique_ptr<Memory> in = transport.allocate(3 * kBytes);
      std::vector<std::byte> bytes(kBytes, std::byte(1 + ranks.rank()));
      out->write(0, bytes);
      in->write(0, std::vector<std::byte>(3 * kBytes, std::byte{0xFF}));
      for (int round = 0; round < 2; ++round) {
        std::vector<Message> sends, receives;
        for (int peer = 0; peer < 3; ++peer) {
          sends.push_back({{out.get(), 0, kBytes}, peer, 0});
          receives.push_back({{in.get(), static_cast<std::size_t>(peer) * kBytes, kBytes}, peer, 0});
        }
        transport.exchange(sends, receives);
      }
      for (int peer = 0; peer < 3 && !is_dry_run; ++peer) {
        in->read(static_cast<std::size_t>(peer) * kBytes, bytes);
        const std::vector<std::byte> expected(kBytes, peer == 2 ? std::byte{0} : std::byte(1 + peer));
        EXPECT_EQ(bytes, expected) << "from rank " << peer;
      }
      return 0;
    });
  }
}

TEST_F(OnRing, SharedMemoryIsRefusedWhereNoTwoRanksHaveIt) {
  const std::vector<device::FoundDevice> dry_runs = device::find_devices(dry_run_selection());
  runtime::run_in_process(2, [&](Communicator& ranks) {
    const test_support::Setting setting(dry_runs.front(), ranks, waiting(kTimeout), {});
    const std::string words = message_of([&] { Shared(setting.context(), 0, 2); }, ExitCode::kEnvironment);
    EXPECT_TRUE(mentions(words, "--staging private")) << words;
    return 0;
  });
}

TEST_F(OnRing, ForcedStagingIsWhatTheChoiceSays) {
  for (const std::string staging : {"private", "shared"}) {
    runtime::Parameters options = options_of("host");
    options.set("staging", staging);
    options.set("staging_slots", std::int64_t{3});
    on_ranks(2, waiting(kTimeout), options, [&](const auto& context, Communicator& ranks) {
      const auto transport = make_transport(context, {.largest_bytes = std::size_t{1} << 19});
      const bool is_shared = staging == "shared";
      EXPECT_EQ(mentions(context.remarks().at(0), "shared memory"), is_shared) << context.remarks().at(0);
      Ring ring(*transport, ranks, {1, 0, 4096, 65537, 1 << 20});
      ring.prepare(1);
      ring.exchange();
      EXPECT_EQ(ring.count_wrong(), 0U) << staging;
    });
  }
}

TEST_F(OnRing, CollectiveCallsThroughSharedMemoryDoTheirOperations) {
  for (const int count : {2, 3}) {
    const std::vector<collectives::Case> cases = collectives::cases_for(count, {1, 997});
    on_ranks(count, waiting(kTimeout), [&](const auto& context, Communicator& /*ranks*/) {
      Shared transport(context, 1000, 2, Waiting::kYield);
      collectives::TransportCaller caller(transport);
      for (const collectives::Case& one : cases) collectives::call_over(caller, transport, one);
    });
  }
}

TEST(HostWays, HoldThoseThatAreAllowedAndTodaysAlways) {
  const auto has = [](std::size_t bytes, const HostChoice& choice, auto&& wanted) {
    return std::ranges::any_of(protocols_to_try(bytes, choice), wanted);
  };
  const auto shared = [](const HostProtocol& way) { return way.is_shared; };
  const auto whole = [](const HostProtocol& way) { return way == HostProtocol{}; };
  for (const std::size_t bytes : {1UL, 4096UL, 1UL << 20, 1UL << 24}) {
    EXPECT_TRUE(has(bytes, {.may_share = true}, whole));
    EXPECT_TRUE(has(bytes, {.may_share = true}, shared));
    EXPECT_FALSE(has(bytes, {.may_share = false}, shared));
    EXPECT_FALSE(has(bytes, {.may_share = true, .staging = StagingUse::kPrivate}, shared));
    EXPECT_FALSE(has(bytes, {.may_share = true, .staging = StagingUse::kShared}, whole));
  }
  const auto eager = [](const HostProtocol& way) { return way.is_eager; };
  EXPECT_TRUE(has(1, {}, eager));
  EXPECT_FALSE(has(1 << 20, {}, eager));
  EXPECT_EQ(staging_use("shared"), StagingUse::kShared);
  EXPECT_TRUE(mentions(message_of([] { staging_use("paper"); }), "measured, private or shared"));
}

}  // namespace

}  // namespace fabricmark::transport
