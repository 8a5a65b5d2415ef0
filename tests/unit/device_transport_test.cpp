// The path over the host between ranks of this process that share the first device.
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include "ring_support.hpp"
#include "transport_caller_support.hpp"

namespace fabricmark::transport {

namespace {

using runtime::Communicator;
using test::mentions;
using test::message_of;
using test_support::kShortTimeout;
using test_support::kTimeout;
using test_support::OnRing;
using test_support::options_of;
using test_support::OverHost;
using test_support::Ring;
using test_support::waiting;

/// Elements of which one is not the other, where not both are NaNs: these differ by their payload.
std::size_t count_other(collectives::Type type, const std::vector<std::byte>& found,
                        const std::vector<std::byte>& expected) {
  const std::size_t bytes = collectives::bytes_of(type);
  const auto is_nan = [&](const std::byte* at) {
    float half = 0;
    float one = 0;
    double two = 0;
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    half = collectives::float_of_half(bits);
    std::memcpy(&one, at, std::min(bytes, sizeof one));
    std::memcpy(&two, at, std::min(bytes, sizeof two));
    if (type == collectives::Type::kFloat16) return std::isnan(half);
    if (type == collectives::Type::kFloat32) return std::isnan(one);
    return type == collectives::Type::kFloat64 && std::isnan(two);
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < found.size(); i += bytes) {
    const bool is_same = std::equal(&found[i], &found[i] + bytes, &expected[i]);
    if (!is_same && !(is_nan(&found[i]) && is_nan(&expected[i]))) ++count;
  }
  return count;
}

constexpr const char* kOfProcesses = "mpi";  // needs ranks that are processes

/// Whether ranks of this process have the transport on this device.
bool serves(const runtime::TransportSpec& spec, const device::DeviceInfo& info) {
  const bool has_memory = spec.memory != "peer" || info.has_peer_memory;
  return spec.is_between_memories() && spec.name != kOfProcesses && has_memory;
}

// Whole, in chunks, from mapped memory where the device shares it: bytes of a chunk, mapped memory.
const std::vector<std::pair<std::size_t, bool>> kWays{{0, false}, {1000, false}, {1000, true}};

using Shape = std::tuple<int, std::size_t, bool>;  // ranks, bytes of a chunk, mapped memory
class HostRing : public OnRing, public testing::WithParamInterface<Shape> {};

// Chunks that divide the sizes below and chunks that do not; 0: whole.
INSTANTIATE_TEST_SUITE_P(Shapes, HostRing,
                         testing::Combine(testing::Values(1, 2, 3, 4),
                                          testing::Values(0, 1000, 4096, 4099, 50000, 100003, 1 << 20),
                                          testing::Bool()));

TEST_P(HostRing, CarriesOneMessageOfAnySizeEachWay) {
  const auto [count, chunk, zero_copy] = GetParam();
  on_ranks(count, waiting(kTimeout),
           [chunk = chunk, zero_copy = zero_copy](const auto& context, Communicator& ranks) {
             OverHost transport(context, chunk, zero_copy);
             for (const std::size_t bytes : {0UL, 1UL, 999UL, 1001UL, 4096UL, 65536UL, 100003UL}) {
               Ring ring(transport, ranks, {bytes});
               ring.prepare(1);
               EXPECT_TRUE(bytes == 0 || ring.count_wrong() > 0) << "nothing has arrived yet";
               ring.exchange();
               EXPECT_EQ(ring.count_wrong(), 0U) << bytes << " bytes";
             }
           });
}

TEST_P(HostRing, CarriesSeveralMessagesOfDifferentSizesInOneExchange) {
  const auto [count, chunk, zero_copy] = GetParam();
  on_ranks(count, waiting(kTimeout),
           [chunk = chunk, zero_copy = zero_copy](const auto& context, Communicator& ranks) {
             OverHost transport(context, chunk, zero_copy);
             Ring ring(transport, ranks, {100003, 1, 0, 8192, 4099});
             for (std::uint32_t round = 1; round <= 5; ++round) {
               ring.prepare(round);
               ring.exchange();
               EXPECT_EQ(ring.count_wrong(), 0U) << "round " << round;
             }
           });
}

// As where a CPU's rank and a GPU's exchange: each chooses its own way of reaching its memory.
TEST_F(OnRing, RanksThatReachTheirMemoryInDifferentWaysUnderstandEachOther) {
  const std::vector<std::pair<std::size_t, bool>> ways{
      {0, false}, {1000, false}, {1, true}, {3000, true}, {4099, false}};
  for (std::size_t first = 0; first < ways.size(); ++first) {
    on_ranks(3, waiting(kTimeout), [&](const auto& context, Communicator& ranks) {
      const auto [chunk, zero_copy] = ways[(first + static_cast<std::size_t>(ranks.rank())) % ways.size()];
      OverHost transport(context, chunk, zero_copy);
      Ring ring(transport, ranks, {100003, 1, 0, 8192, 999});
      for (std::uint32_t round = 1; round <= 2; ++round) {
        ring.prepare(round);
        ring.exchange();
        EXPECT_EQ(ring.count_wrong(), 0U) << "ways from " << first << ", rank " << ranks.rank();
      }
    });
  }
}

TEST_F(OnRing, ChunksOfOneByteArriveToo) {
  on_ranks(2, waiting(kTimeout), [](const auto& context, Communicator& ranks) {
    OverHost transport(context, 1, false);
    Ring ring(transport, ranks, {2, 33});
    ring.prepare(1);
    ring.exchange();
    EXPECT_EQ(ring.count_wrong(), 0U);
  });
}

TEST_F(OnRing, EveryKindOfDeviceMemoryServes) {
  for (const auto kind :
       {device::MemoryKind::kBuffer, device::MemoryKind::kHostPointer, device::MemoryKind::kSvm}) {
    if (kind == device::MemoryKind::kSvm && !found_.info.has_svm) continue;
    for (const auto& [chunk, zero_copy] : kWays) {
      on_ranks(2, waiting(kTimeout, kind), [chunk, zero_copy](const auto& context, Communicator& ranks) {
        OverHost transport(context, chunk, zero_copy);
        Ring ring(transport, ranks, {10007, 5});
        ring.prepare(1);
        ring.exchange();
        EXPECT_EQ(ring.count_wrong(), 0U);
      });
    }
  }
}

TEST_F(OnRing, TheStepsOneByOneMakeAnExchange) {
  on_ranks(3, waiting(kTimeout), [](const auto& context, Communicator& ranks) {
    OverHost transport(context, 0);
    const std::unique_ptr<Steps> steps = transport.steps();
    const std::size_t last = steps->steps().size() - 1;
    Ring ring(transport, ranks, {1, 70001});
    for (std::uint32_t round = 1; round <= 3; ++round) {
      ring.prepare(round);
      for (std::size_t step = 0; step < last; ++step) steps->take(step, ring.sends(), ring.receives(), 0);
      // One byte in 256 is the same as poison.
      EXPECT_GT(ring.count_wrong(), ring.bytes() * 9 / 10) << "the device has nothing before the last step";
      steps->take(last, ring.sends(), ring.receives(), 0);
      EXPECT_EQ(ring.count_wrong(), 0U);
    }
  });
}

TEST_F(OnRing, AMessageThatDoesNotComeIsNamedWholeOrInChunks) {
  for (const auto& [chunk, zero_copy] : kWays) {
    on_ranks(2, waiting(kShortTimeout), [chunk, zero_copy](const auto& context, Communicator& ranks) {
      OverHost transport(context, chunk, zero_copy);
      Ring ring(transport, ranks, {2500});
      ring.prepare(1);
      ranks.barrier();
      const std::vector<Message> receives = ring.receives();
      const std::string message =
          message_of([&] { transport.exchange({}, receives); }, ExitCode::kEnvironment);
      const std::string peer = "from rank " + std::to_string(1 - ranks.rank());
      EXPECT_TRUE(mentions(message, peer)) << message;
      EXPECT_TRUE(mentions(message, chunk == 0 || zero_copy ? "2500 bytes" : "1000 bytes")) << message;
      ranks.barrier();
    });
  }
}

TEST_F(OnRing, TransportsAreMadeByName) {
  for (const runtime::TransportSpec& spec : runtime::transport_specs()) {
    if (!serves(spec, found_.info)) continue;
    on_ranks(1, waiting(kTimeout), options_of(spec.name), [&](const auto& context, Communicator& ranks) {
      const std::unique_ptr<Transport> transport = make_transport(context);
      EXPECT_EQ(transport->name(), spec.name);
      Ring ring(*transport, ranks, {1234});
      ring.prepare(1);
      ring.exchange();
      EXPECT_EQ(ring.count_wrong(), 0U);
      const auto own = transport->allocate(1)->space();
      EXPECT_TRUE(transport->supports(own, own, Operation::kMessage));
      EXPECT_EQ(device::is_on_device(own), (spec.between == runtime::Between::kDevices));
      const auto other = (spec.between == runtime::Between::kDevices) ? device::MemorySpace::kPageable
                                                                      : device::MemorySpace::kDeviceBank;
      EXPECT_FALSE(transport->supports(own, other, Operation::kMessage));
      const std::string message = message_of([&] { make_transport(context, {.space = other}); });
      EXPECT_TRUE(mentions(message, spec.name) && mentions(message, "--transport")) << message;
    });
  }
  on_ranks(2, waiting(kTimeout), options_of(kOfProcesses), [](const auto& context, Communicator& /*ranks*/) {
    const std::string message = message_of([&] { make_transport(context); });
    EXPECT_TRUE(mentions(message, "mpirun -n 2")) << message;
  });
  on_ranks(1, waiting(kTimeout), options_of("pigeon"), [](const auto& context, Communicator& /*ranks*/) {
    const std::string message = message_of([&] { make_transport(context); });
    EXPECT_TRUE(mentions(message, "'pigeon'") && mentions(message, "cpu or host")) << message;
  });
}

TEST_F(OnRing, ATunedTransportSaysWhatItChoseAndCarriesMessagesOfAnySize) {
  for (const runtime::TransportSpec& spec : runtime::transport_specs()) {
    if (!serves(spec, found_.info)) continue;
    on_ranks(2, waiting(kTimeout), options_of(spec.name), [&](const auto& context, Communicator& ranks) {
      const auto transport = make_transport(context, {.largest_bytes = std::size_t{1} << 18});
      ASSERT_EQ(context.remarks().size(), 1U);
      const std::string& choice = context.remarks().front();
      EXPECT_TRUE(mentions(choice, "measured") || mentions(choice, "cached by")) << choice;
      // Beyond the largest, too.
      Ring ring(*transport, ranks, {1, 0, 4096, 65537, 1 << 20});
      for (std::uint32_t round = 1; round <= 3; ++round) {
        ring.prepare(round);
        ring.exchange();
        EXPECT_EQ(ring.count_wrong(), 0U) << spec.name << ", round " << round;
      }
    });
  }
}

TEST_F(OnRing, TransfersRunSideBySideAndAreWaitedForInAnyOrder) {
  for (const auto& [chunk, zero_copy] : kWays) {
    on_ranks(2, waiting(kTimeout), {}, [&](const auto& context, Communicator& ranks) {
      OverHost transport(context, static_cast<std::int64_t>(chunk), zero_copy);
      Ring first(transport, ranks, {70001});
      Ring second(transport, ranks, {5000}, /*first_tag=*/10);
      for (std::uint32_t round = 1; round <= 3; ++round) {
        first.prepare(round);
        second.prepare(round);
        const device::Event one = transport.start(first.sends(), first.receives());
        const device::Event other = transport.start(second.sends(), second.receives());
        // One rank waits for the one first, the other for the other.
        (ranks.rank() == 0 ? one : other).wait();
        (ranks.rank() == 0 ? other : one).wait();
        EXPECT_EQ(first.count_wrong() + second.count_wrong(), 0U);
      }
    });
  }
}

TEST_F(OnRing, ATransferBeginsAfterTheCopyThatMakesWhatIsSent) {
  on_ranks(2, waiting(kTimeout), {}, [&](const auto& context, Communicator& ranks) {
    OverHost transport(context, 0);
    constexpr std::size_t kBytes = std::size_t{1} << 20;
    Memory out(context.device(), kBytes, device::MemoryKind::kBuffer);
    Memory in(context.device(), kBytes, device::MemoryKind::kBuffer);
    const device::Queue queue = context.device().queue();
    for (int round = 1; round <= 3; ++round) {
      const std::vector<std::byte> sent(kBytes, std::byte(round));
      device::Event written;
      out.device().write(queue, sent.data(), kBytes, 0, &written);
      const int peer = 1 - ranks.rank();
      const device::Event left = transport.send({{&out, 0, kBytes}, peer, 0}, {written});
      const device::Event arrived = transport.receive({{&in, 0, kBytes}, peer, 0});
      queue.flush();
      arrived.wait();
      left.wait();
      EXPECT_TRUE(left.has_ended() && arrived.has_ended());
      // A kernel or copy can begin after a transfer, too.
      std::vector<std::byte> found(kBytes);
      queue.begin_after({arrived});
      in.device().read(queue, found.data(), kBytes);
      queue.finish();
      EXPECT_EQ(found, sent);
    }
  });
}

TEST_F(OnRing, CollectiveCallsOverTheHostDoTheirOperations) {
  for (const int count : {2, 3, 4}) {
    const std::vector<collectives::Case> cases = collectives::cases_for(count, {1, 997});
    for (const auto& [chunk, zero_copy] : kWays) {
      // How messages travel has nothing to do with the number of ranks: three meet all ways.
      if (count != 3 && (chunk == 0 || zero_copy)) continue;
      on_ranks(count, waiting(kTimeout), [&](const auto& context, Communicator& ranks) {
        OverHost transport(context, static_cast<std::int64_t>(chunk), zero_copy, Waiting::kYield);
        collectives::TransportCaller caller(transport);
        for (const collectives::Case& one : cases) collectives::call_over(caller, transport, one);
        EXPECT_EQ(ranks.size(), count);
      });
    }
  }
}

TEST_F(OnRing, ADeviceCombinesToTheBitsThatTheHostDoes) {
  using collectives::DeviceArithmetic;
  using collectives::Type;
  constexpr std::size_t kBytes = 4096;
  on_ranks(1, waiting(kTimeout), [](const auto& context, Communicator& /*ranks*/) {
    OverHost transport(context, 0);
    DeviceArithmetic arithmetic(context.device());
    std::mt19937 random(5);
    std::vector<std::byte> a(kBytes);
    std::vector<std::byte> b(kBytes);
    const std::unique_ptr<Memory> in = transport.allocate(2 * kBytes);
    const std::unique_ptr<Memory> out = transport.allocate(kBytes);
    for (const Type type : collectives::kTypes) {
      // Any bits, among them NaNs, infinities, subnormal numbers and zeros of both signs.
      for (std::vector<std::byte>* const bytes : {&a, &b}) {
        for (std::byte& one : *bytes) one = std::byte(random());
        for (std::size_t i = 0; i < kBytes; i += 48) std::fill_n(bytes->begin() + i, 16, std::byte{0});
        for (std::size_t i = 7; i < kBytes; i += 56) bytes->at(i) = std::byte{0x80};
      }
      in->write(0, a);
      in->write(kBytes, b);
      for (const collectives::Reduction reduction : collectives::kReductions) {
        if (!arithmetic.has(type, reduction)) continue;
        arithmetic.combine(type, reduction, {in.get(), 0, kBytes}, {in.get(), kBytes, kBytes},
                           {out.get(), 0, kBytes});
        std::vector<std::byte> expected(kBytes);
        collectives::combine(type, reduction, a.data(), b.data(), expected.data(),
                             kBytes / collectives::bytes_of(type));
        std::vector<std::byte> found(kBytes);
        out->read(0, found);
        EXPECT_EQ(count_other(type, found, expected), 0U)
            << collectives::name_of(type) << " " << collectives::name_of(reduction);
      }
    }
  });
}

TEST_F(OnRing, APartThatARankKeepsForItselfArrivesWithTheOthers) {
  using Kind = device::MemoryKind;
  for (const Kind kind : {Kind::kBuffer, Kind::kHostPointer, Kind::kSvm}) {
    if (kind == Kind::kSvm && !found_.info.has_svm) continue;
    on_ranks(2, waiting(kTimeout, kind), [](const auto& context, Communicator& ranks) {
      OverHost transport(context, /*chunk_bytes=*/0);
      const auto own = static_cast<unsigned char>(ranks.rank());
      std::vector<std::byte> values(2000);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::byte(static_cast<unsigned char>(i % 251 ^ (own << 7U)));
      const std::unique_ptr<Memory> from = transport.allocate(values.size());
      const std::unique_ptr<Memory> to = transport.allocate(values.size());
      from->write(0, values);
      to->write(0, std::vector<std::byte>(values.size(), std::byte{0xFF}));
      transport.all_to_all({from.get(), 0, values.size()}, {to.get(), 0, values.size()}).wait();
      std::vector<std::byte> found(values.size());
      to->read(0, found);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t sent = own * 1000U + i % 1000;  // of rank i / 1000
        EXPECT_EQ(found[i], std::byte(static_cast<unsigned char>(sent % 251 ^ ((i / 1000) << 7U)))) << i;
      }
    });
  }
}

TEST_F(OnRing, WhatTheHostSeesOfADevicesElementsIsWhatItLastRead) {
  on_ranks(2, waiting(kTimeout), [](const auto& context, Communicator& /*ranks*/) {
    OverHost transport(context, 0);
    collectives::TransportCaller caller(transport);
    const collectives::View elements = caller.allocate(1, collectives::Type::kInt32);
    const auto fill = [&](std::byte with) { std::fill_n(elements.data, elements.bytes(), with); };
    fill(std::byte{1});
    caller.write(elements);
    fill(std::byte{2});
    caller.read(elements);
    EXPECT_EQ(elements.data[0], std::byte{1});
  });
}

TEST_F(OnRing, FaultsOfMessagesAreMadeOnTheirRankOnly) {
  // Which ranks receive wrong bytes from the other one.
  const auto is_struck = [this](const char* text) {
    std::array<bool, 2> struck{};
    on_ranks(2, {.fault = runtime::parse_fault(text)}, options_of("cpu"),
             [&](const auto& context, Communicator& ranks) {
               const std::unique_ptr<Transport> transport = make_transport(context);
               Ring ring(*transport, ranks, {1000});
               ring.prepare(1);
               ring.exchange();
               struck[static_cast<std::size_t>(ranks.rank())] = ring.count_wrong() > 0;
             });
    return struck;
  };
  EXPECT_EQ(is_struck("blank"), (std::array<bool, 2>{true, true}));
  EXPECT_EQ(is_struck("blank@1"), (std::array<bool, 2>{true, false}));
  EXPECT_EQ(is_struck("element"), (std::array<bool, 2>{false, false})) << "the benchmark makes it";
}

}  // namespace

}  // namespace fabricmark::transport
