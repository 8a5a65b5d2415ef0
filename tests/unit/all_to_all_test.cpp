#include <array>
#include <numeric>
#include <thread>

#include "runtime/fault.hpp"
#include "support.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/faulty_transport.hpp"

namespace fabricmark::transport {

namespace {

using runtime::Communicator;
using runtime::Fault;
using runtime::run_in_process;
using test::mentions;
using test::message_of;

constexpr std::size_t kBlock = 1000;
constexpr std::array kRanks{1, 2, 3, 4, 8};

std::byte content(int sender, int receiver, std::size_t i) {
  return static_cast<std::byte>(31 * sender + 7 * receiver + static_cast<int>(i) + 1);
}

/// Number of wrong bytes that arrive at this rank in one exchange.
std::size_t count_wrong(Communicator& ranks, Transport& transport) {
  const auto count = static_cast<std::size_t>(ranks.size());
  const auto outgoing = transport.allocate(count * kBlock);
  const auto incoming = transport.allocate(count * kBlock);
  std::vector<std::byte> bytes(count * kBlock);
  incoming->write(0, bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = content(ranks.rank(), static_cast<int>(i / kBlock), i % kBlock);
  }
  outgoing->write(0, bytes);
  transport.all_to_all({outgoing.get(), 0, count * kBlock}, {incoming.get(), 0, count * kBlock}).wait();
  incoming->read(0, bytes);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    wrong += bytes[i] != content(static_cast<int>(i / kBlock), ranks.rank(), i % kBlock) ? 1 : 0;
  }
  return wrong;
}

class AllToAll : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, AllToAll, testing::ValuesIn(kRanks));

TEST_P(AllToAll, CarriesEveryBlockToItsPlace) {
  run_in_process(GetParam(), [](Communicator& ranks) {
    CpuTransport transport(ranks, 60);
    for (int round = 0; round < 5; ++round) EXPECT_EQ(count_wrong(ranks, transport), 0U) << ranks.rank();
    return 0;
  });
}

TEST_P(AllToAll, GathersThePartOfEveryRankOnAll) {
  run_in_process(GetParam(), [](Communicator& ranks) {
    CpuTransport transport(ranks, 60);
    const auto count = static_cast<std::size_t>(ranks.size());
    Memory own(kBlock);
    Memory all(count * kBlock);
    for (std::size_t i = 0; i < kBlock; ++i) own.host()[i] = content(ranks.rank(), 0, i);
    transport.all_gather({&own, 0, kBlock}, {&all, 0, count * kBlock}).wait();
    for (std::size_t i = 0; i < count * kBlock; ++i) {
      EXPECT_EQ(all.host()[i], content(static_cast<int>(i / kBlock), 0, i % kBlock)) << ranks.rank();
    }
    return 0;
  });
}

TEST_P(AllToAll, BroadcastsFromAnyRoot) {
  run_in_process(GetParam(), [](Communicator& ranks) {
    CpuTransport transport(ranks, 60);
    for (int root = 0; root < ranks.size(); ++root) {
      Memory memory(kBlock);
      std::ranges::fill(memory.host(), std::byte{0});
      for (std::size_t i = 0; i < kBlock && ranks.rank() == root; ++i) memory.host()[i] = content(root, 1, i);
      transport.broadcast({&memory, 0, kBlock}, root).wait();
      for (std::size_t i = 0; i < kBlock; ++i) EXPECT_EQ(memory.host()[i], content(root, 1, i)) << root;
    }
    return 0;
  });
}

TEST_P(AllToAll, ShowsWhatIsLateOrSwappedOnOneRank) {
  if (GetParam() == 1) return;  // a single message
  for (const Fault::Kind kind : {Fault::Kind::kLate, Fault::Kind::kSwapped}) {
    std::vector<std::size_t> wrong(static_cast<std::size_t>(GetParam()));
    run_in_process(GetParam(), [&](Communicator& ranks) {
      auto transport = std::make_unique<CpuTransport>(ranks, 60);
      FaultyTransport faulty(std::make_unique<CpuTransport>(ranks, 60), Fault{.kind = kind});
      Transport& chosen = ranks.rank() == 1 ? static_cast<Transport&>(faulty) : *transport;
      wrong[static_cast<std::size_t>(ranks.rank())] = count_wrong(ranks, chosen);
      return 0;
    });
    const auto total = std::accumulate(wrong.begin(), wrong.end(), std::size_t{0});
    EXPECT_EQ(total, (kind == Fault::Kind::kLate ? 1 : 2) * kBlock);
  }
}

TEST(AllToAllOfAnyRanks, NamesALostMessage) {
  // Only the lost message may miss it, also where eight ranks share two busy cores under a sanitizer.
  static constexpr double kTimeout = 5;  // s
  const auto lose_one = [](Communicator& ranks) {
    FaultyTransport transport(std::make_unique<CpuTransport>(ranks, kTimeout),
                              Fault{.kind = Fault::Kind::kLost});
    const std::string message = message_of([&] { count_wrong(ranks, transport); }, ExitCode::kEnvironment);
    // The last block of a rank is for the one before it.
    const std::string sender = std::to_string((ranks.rank() + 1) % ranks.size());
    EXPECT_TRUE(mentions(message, "1000 bytes from rank " + sender)) << ranks.size() << ": " << message;
    return 0;
  };
  // All wait at the same time.
  std::array<int, kRanks.size()> codes{};
  {
    std::vector<std::jthread> groups;
    for (std::size_t i = 0; i < kRanks.size(); ++i) {
      groups.emplace_back([&, i] { codes[i] = 1 + run_in_process(kRanks[i], lose_one); });
    }
  }
  for (const int code : codes) EXPECT_EQ(code, 1);
}

}  // namespace

}  // namespace fabricmark::transport
