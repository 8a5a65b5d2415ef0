#include "transport/transport.hpp"

#include <array>
#include <cmath>

#include "support.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/faulty_transport.hpp"
#include "transport/registry.hpp"
#include "transport/tuning.hpp"
#include "transport_support.hpp"

namespace fabricmark::transport {

namespace {

using runtime::Communicator;
using runtime::Fault;
using runtime::run_in_process;
using test::mentions;
using test::message_of;
using test_support::Ring;

constexpr double kTimeout = 60;        // s
constexpr double kShortTimeout = 0.1;  // s

class CpuRing : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CpuRing, testing::Values(1, 2, 3, 4, 7));

TEST_P(CpuRing, CarriesOneMessageOfAnySizeEachWay) {
  run_in_process(GetParam(), [](Communicator& ranks) {
    CpuTransport transport(ranks, kTimeout);
    for (const std::size_t bytes : {0UL, 1UL, 2UL, 13UL, 4096UL, 32767UL, 32768UL, 100003UL, 1UL << 20}) {
      Ring ring(transport, ranks, {bytes});
      ring.prepare(1);
      EXPECT_TRUE(bytes == 0 || ring.count_wrong() > 0) << "nothing has arrived yet";
      ring.exchange();
      EXPECT_EQ(ring.count_wrong(), 0U) << bytes << " bytes";
    }
    return 0;
  });
}

TEST_P(CpuRing, CarriesSeveralMessagesInOneExchange) {
  run_in_process(GetParam(), [](Communicator& ranks) {
    CpuTransport transport(ranks, kTimeout);
    Ring ring(transport, ranks, {1, 65536, 0, 7, 40000, 1});
    for (std::uint32_t round = 1; round <= 20; ++round) {
      ring.prepare(round);
      ring.exchange();
      EXPECT_EQ(ring.count_wrong(), 0U) << "round " << round;
    }
    return 0;
  });
}

TEST(CpuTransport, CarriesMessagesOfARankAlone) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  CpuTransport transport(*ranks, kTimeout);
  EXPECT_EQ(transport.name(), "cpu");
  Ring ring(transport, *ranks, {3, 100000});
  ring.prepare(1);
  ring.exchange();
  EXPECT_EQ(ring.count_wrong(), 0U);
}

TEST(CpuTransport, SendsNothingAndReceivesNothing) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  CpuTransport(*ranks, kShortTimeout).exchange({}, {});
}

TEST(CpuTransport, SaysWhichMessageDidNotArrive) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  CpuTransport transport(*ranks, kShortTimeout);
  Ring ring(transport, *ranks, {5});
  const std::vector<Message> receives = ring.receives();
  const std::string message = message_of([&] { transport.exchange({}, receives); }, ExitCode::kEnvironment);
  EXPECT_TRUE(mentions(message, "5 bytes from rank 0")) << message;
}

TEST(CpuTransport, GivesUpATransferAndStartsTheNext) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  CpuTransport transport(*ranks, kTimeout);
  Ring ring(transport, *ranks, {5});
  ring.prepare(1);
  const device::Event event = transport.start({}, ring.receives());
  EXPECT_FALSE(event.has_ended());
  EXPECT_TRUE(event.cancel());
  EXPECT_TRUE(event.has_ended());
  ring.exchange();
  EXPECT_EQ(ring.count_wrong(), 0U);
}

TEST(CpuTransport, BeginsWhenWhatIsBeforeHasEnded) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  CpuTransport transport(*ranks, kTimeout);
  Ring ring(transport, *ranks, {100});
  Memory late(8);
  const device::Event before = transport.receive({{&late, 0, 8}, 0, 77});
  const device::Event event = transport.start(ring.sends(), ring.receives(), {before});
  EXPECT_FALSE(event.has_ended());
  ring.prepare(1);  // what is sent is made now, in time
  EXPECT_FALSE(event.has_ended());
  Memory early(8);
  transport.send({{&early, 0, 8}, 0, 77}).wait();
  event.wait();
  EXPECT_TRUE(before.has_ended());
  EXPECT_EQ(ring.count_wrong(), 0U);
}

TEST(CpuTransport, TellsWhenATransferWasQueuedAndHasEnded) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  CpuTransport transport(*ranks, kTimeout, Waiting::kSpin, kLongMessage, /*is_timed=*/true);
  Ring ring(transport, *ranks, {100});
  ring.prepare(1);
  const device::Event event = transport.start(ring.sends(), ring.receives());
  event.wait();
  const device::CommandTimes times = event.times();
  EXPECT_GT(times.queued, 0);
  EXPECT_LE(times.queued, times.submitted);
  EXPECT_LE(times.submitted, times.started);
  EXPECT_LE(times.started, times.ended);
}

TEST(CpuTransport, RefusesDeviceMemory) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  const CpuTransport transport(*ranks, kTimeout);
  using Space = device::MemorySpace;
  for (const Space space : {Space::kPageable, Space::kPinned, Space::kInterProcess})
    EXPECT_TRUE(transport.supports(space, Space::kPageable, Operation::kMessage)) << name(space);
  for (const Space space : {Space::kDeviceBank, Space::kShared, Space::kDryRun, Space::kOnChip})
    EXPECT_FALSE(transport.supports(space, Space::kPageable, Operation::kMessage)) << name(space);
  EXPECT_THROW(static_cast<void>(Memory(8).device()), std::logic_error);
}

TEST(SizeClasses, StandForAllSizesUpToTheNext) {
  const std::vector<std::size_t> sizes = tuned_sizes(std::size_t{1} << 40);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(size_class(sizes[i]), i) << sizes[i];
    EXPECT_EQ(size_class(sizes[i] - 1), i == 0 ? 0 : i - 1) << sizes[i];
  }
  EXPECT_EQ(size_class(0), 0U);
  EXPECT_EQ(tuned_sizes(0), std::vector<std::size_t>{1});
}

/// Remembers what it was asked to do.
class Recorder : public Transport {
 public:
  explicit Recorder(Communicator& ranks) : Transport(ranks) {}
  [[nodiscard]] std::string name() const override { return "recorder"; }
  [[nodiscard]] bool supports(device::MemorySpace /*from*/, device::MemorySpace /*to*/,
                              Operation /*operation*/) const override {
    return true;
  }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t /*bytes*/) override { return nullptr; }
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& /*after*/) override {
    sent.assign(sends.begin(), sends.end());
    received.assign(receives.begin(), receives.end());
    return {};
  }
  std::vector<Message> sent;
  std::vector<Message> received;
};

/// A transport with a fault over a recorder, and three messages in a row as a series has them.
class WithFault {
 public:
  explicit WithFault(Fault::Kind kind) {
    auto recorder = std::make_unique<Recorder>(*ranks);
    seen = recorder.get();
    transport = std::make_unique<FaultyTransport>(std::move(recorder), Fault{.kind = kind});
    transport->exchange(messages, std::span(messages).first(2));
  }
  const std::vector<Message> messages{
      {{nullptr, 800, 8}, 1, 0}, {{nullptr, 1600, 8}, 2, 1}, {{nullptr, 2400, 8}, 3, 2}};
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  Recorder* seen = nullptr;
  std::unique_ptr<FaultyTransport> transport;
};

std::vector<std::size_t> offsets(const std::vector<Message>& messages) {
  std::vector<std::size_t> all;
  for (const Message& message : messages) all.push_back(message.offset);
  return all;
}

TEST(FaultyTransport, LosesTheLastMessage) {
  const WithFault lost(Fault::Kind::kLost);
  EXPECT_EQ(offsets(lost.seen->sent), (std::vector<std::size_t>{800, 1600}));
  EXPECT_EQ(offsets(lost.seen->received), (std::vector<std::size_t>{800, 1600})) << "receives stay";
}

TEST(FaultyTransport, SendsWhatThePlaceBeforeHeld) {
  const WithFault late(Fault::Kind::kLate);
  EXPECT_EQ(offsets(late.seen->sent), (std::vector<std::size_t>{800, 1600, 2392}));
  EXPECT_EQ(late.seen->sent.back().peer, 3);
  EXPECT_EQ(late.seen->sent.back().bytes, 8U);
  // There is no place before the first.
  const Message first{{nullptr, 0, 8}, 1, 0};
  late.transport->exchange(std::span(&first, 1), {});
  EXPECT_EQ(offsets(late.seen->sent), (std::vector<std::size_t>{0}));
}

TEST(FaultyTransport, SwapsTheContentsOfTheFirstAndTheLast) {
  const WithFault swapped(Fault::Kind::kSwapped);
  EXPECT_EQ(offsets(swapped.seen->sent), (std::vector<std::size_t>{2400, 1600, 800}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(swapped.seen->sent[i].peer, swapped.messages[i].peer);
    EXPECT_EQ(swapped.seen->sent[i].tag, swapped.messages[i].tag);
  }
}

TEST(FaultyTransport, MovesHalfOfEveryMessageOnBothSidesWhereAllRanksDo) {
  const WithFault half(Fault::Kind::kHalf);
  EXPECT_EQ(offsets(half.seen->sent), offsets(half.messages));
  EXPECT_EQ(half.seen->received.size(), 2U);
  for (const Message& message : half.seen->sent) EXPECT_EQ(message.bytes, 4U);
  for (const Message& message : half.seen->received) EXPECT_EQ(message.bytes, 4U);
  // Also where a rank only receives.
  half.transport->exchange({}, std::span(half.messages).first(1));
  EXPECT_EQ(half.seen->received.at(0).bytes, 4U);
}

/// Bytes that arrive wrong on each of three ranks when rank 1, or all have the fault; -1 where the time was
/// over.
std::array<long, 3> wrong_bytes(const Fault& fault, std::size_t bytes) {
  std::array<long, 3> wrong{};
  run_in_process(3, [&](Communicator& ranks) {
    // Only rank 0 misses a message of rank 1; the others may take their time on a busy machine.
    const bool misses_one = fault.kind == Fault::Kind::kLost && ranks.rank() == 0;
    auto plain = std::make_unique<CpuTransport>(ranks, misses_one ? 20 * kShortTimeout : kTimeout);
    std::unique_ptr<Transport> transport = std::move(plain);
    if (fault.rank.value_or(ranks.rank()) == ranks.rank()) {
      transport = std::make_unique<FaultyTransport>(std::move(transport), fault);
    }
    Ring ring(*transport, ranks, {bytes});
    ring.prepare(1);
    ranks.barrier();
    long& own = wrong[static_cast<std::size_t>(ranks.rank())];
    try {
      ring.exchange();
      own = static_cast<long>(ring.count_wrong());
    } catch (const Error& error) {
      EXPECT_TRUE(mentions(error.what(), "from rank 1")) << error.what();
      own = -1;
    }
    ranks.barrier();
    return 0;
  });
  return wrong;
}

TEST(FaultyTransport, IsFoundWhereTheMessageGoes) {
  for (const std::size_t bytes : {1UL, 1001UL, 50000UL}) {
    const long all = static_cast<long>(bytes);
    const auto on_rank_1 = [&](Fault::Kind kind) { return wrong_bytes({.kind = kind, .rank = 1}, bytes); };
    // The last message of an exchange goes to the left, to rank 0; the first to rank 2.
    EXPECT_EQ(on_rank_1(Fault::Kind::kLost), (std::array<long, 3>{-1, 0, 0})) << bytes;
    EXPECT_EQ(on_rank_1(Fault::Kind::kLate), (std::array<long, 3>{all, 0, 0})) << bytes;
    EXPECT_EQ(on_rank_1(Fault::Kind::kSwapped), (std::array<long, 3>{all, 0, all})) << bytes;
  }
}

/// About `share` of `bytes` are wrong: of zeros or poison, one byte in 256 is right by chance.
bool is_about(long wrong, double share, double bytes) {
  const auto count = static_cast<double>(wrong);
  return count <= std::ceil(share * bytes) && count > 0.98 * share * bytes;
}

TEST(FaultyTransport, BlanksEveryMessageOfTheFaultyRanks) {
  constexpr std::size_t kBytes = 50000;
  const auto [left, own, right] = wrong_bytes({.kind = Fault::Kind::kBlank, .rank = 1}, kBytes);
  EXPECT_TRUE(is_about(left, 1, kBytes)) << left;
  EXPECT_EQ(own, 0);
  EXPECT_TRUE(is_about(right, 1, kBytes)) << right;
  for (const long wrong : wrong_bytes({.kind = Fault::Kind::kBlank}, kBytes)) {
    EXPECT_TRUE(is_about(wrong, 2, kBytes)) << wrong;
  }
}

TEST(FaultyTransport, HalvesEveryMessageOfTheFaultyRanks) {
  for (const std::size_t count : {9999UL, 50000UL}) {
    const auto bytes = static_cast<double>(count);
    const auto [left, own, right] = wrong_bytes({.kind = Fault::Kind::kHalf, .rank = 1}, count);
    EXPECT_TRUE(is_about(left, 0.5, bytes)) << left;
    EXPECT_EQ(own, 0);
    EXPECT_TRUE(is_about(right, 0.5, bytes)) << right;
    for (const long wrong : wrong_bytes({.kind = Fault::Kind::kHalf}, count)) {
      EXPECT_TRUE(is_about(wrong, 1, bytes + 1)) << wrong;
    }
  }
}

TEST(MessageFaults, AreThoseOfTransports) {
  for (const char* text : {"lost", "late", "swapped", "blank", "half", "lost@1"}) {
    EXPECT_TRUE(is_message_fault(runtime::parse_fault(text))) << text;
  }
  for (const char* text : {"element", "scale", "zeros", "stale", "swapped:c"}) {
    EXPECT_FALSE(is_message_fault(runtime::parse_fault(text))) << text;
  }
}

}  // namespace

}  // namespace fabricmark::transport
