// Collectives between memories over emulated boards: engines of messages and direct links.
#include "board/board_transport.hpp"

#include <numeric>
#include <tuple>

#include "board_support.hpp"

namespace fabricmark::board {

namespace {

using runtime::Communicator;
using test::mentions;
using test::message_of;
using transport::Memory;

const std::vector<std::string> kTransports = test::transports_of_kernels();

/// A transport of a rank, with what stands behind it.
struct Rank : test::BoardRank {
  Rank(Communicator& ranks, const std::filesystem::path& file,
       const std::map<std::string, std::string>& options, const std::optional<runtime::Fault>& fault)
      : BoardRank(ranks, file, options, fault), transport(make_transport(*context)) {}

  std::unique_ptr<transport::Transport> transport;
};

class BoardTransportOver : public testing::Test {
 protected:
  using Options = std::map<std::string, std::string>;

  template <typename Body>
  void each(int count, const Options& options, Body&& body,
            const std::optional<runtime::Fault>& fault = std::nullopt) {
    runtime::run_in_process(count, [&](Communicator& ranks) {
      Rank rank(ranks, file_, options, fault);
      body(*rank.transport, rank);
      return 0;
    });
  }
  static std::byte content(int sender, int receiver, std::size_t i) {
    return static_cast<std::byte>(31 * sender + 7 * receiver + static_cast<int>(i) + 1);
  }
  /// Wrong bytes of this rank after an exchange of all with all, those around its memory included.
  static std::size_t count_wrong(transport::Transport& transport, std::size_t block) {
    constexpr std::size_t kGuard = 5;
    constexpr std::byte kNothing{0xa5};
    const int own = transport.ranks().rank();
    const std::size_t all = static_cast<std::size_t>(transport.ranks().size()) * block;
    const auto outgoing = transport.allocate(all);
    const auto incoming = transport.allocate(all + 2 * kGuard);
    for (std::size_t i = 0; i < all; ++i)
      outgoing->host()[i] = content(own, static_cast<int>(i / block), i % block);
    std::ranges::fill(incoming->host(), kNothing);
    transport.all_to_all({outgoing.get(), 0, all}, {incoming.get(), kGuard, all}).wait();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < all; ++i) {
      const std::byte expected = content(static_cast<int>(i / block), own, i % block);
      wrong += incoming->host()[kGuard + i] != expected ? 1 : 0;
    }
    for (std::size_t i = 0; i < kGuard; ++i) {
      wrong += incoming->host()[i] != kNothing ? 1 : 0;
      wrong += incoming->host()[kGuard + all + i] != kNothing ? 1 : 0;
    }
    return wrong;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.write("system.json", test::system_with_boards());
};

TEST_F(BoardTransportOver, AnyNumberOfBoardsCarriesEveryPartToItsPlace) {
  for (const std::string& name : kTransports) {
    for (const int count : {1, 2, 3, 4, 9, 16, 25}) {
      for (const char* issuer : {"logic", "host"}) {
        each(count, {{"transport", name}, {"issuer", issuer}}, [&](transport::Transport& transport, Rank&) {
          for (const std::size_t block : {1U, 4U, 1001U, 100U}) {
            EXPECT_EQ(count_wrong(transport, block), 0U) << name << ", " << count << " boards, " << block;
          }
        });
      }
    }
  }
}

TEST_F(BoardTransportOver, OtherCablesCarryTheSame) {
  for (const char* topology : {"ring*2", "full-mesh"}) {
    each(4, {{"transport", "channels"}, {"topology", topology}}, [&](transport::Transport& transport, Rank&) {
      EXPECT_EQ(count_wrong(transport, 64), 0U) << topology;
    });
  }
}

TEST_F(BoardTransportOver, AllBoardsGatherAndBroadcast) {
  constexpr std::size_t kBlock = 10;
  for (const std::string& name : kTransports) {
    each(5, {{"transport", name}}, [&](transport::Transport& transport, Rank&) {
      Memory own(kBlock);
      Memory all(5 * kBlock);
      for (std::size_t i = 0; i < kBlock; ++i) own.host()[i] = content(transport.ranks().rank(), 0, i);
      transport.all_gather({&own, 0, kBlock}, {&all, 0, 5 * kBlock}).wait();
      for (std::size_t i = 0; i < 5 * kBlock; ++i)
        EXPECT_EQ(all.host()[i], content(static_cast<int>(i / kBlock), 0, i % kBlock)) << name;
      for (int root = 0; root < 5; ++root) {
        if (transport.ranks().rank() != root) std::ranges::fill(own.host(), std::byte{0});
        transport.broadcast({&own, 0, kBlock}, root).wait();
        for (std::size_t i = 0; i < kBlock; ++i) EXPECT_EQ(own.host()[i], content(0, 0, i)) << name;
      }
    });
  }
}

TEST_F(BoardTransportOver, AnExchangeBeginsWhenAllAreReady) {
  for (const std::string& name : kTransports) {
    std::vector<double> alone(4);
    std::vector<double> late(4);
    std::vector<double> longer(4);
    each(4, {{"transport", name}}, [&](transport::Transport& transport, Rank& rank) {
      const auto own = static_cast<std::size_t>(transport.ranks().rank());
      const auto taken = [&](double before, std::size_t block) {
        rank.conditions.clock->restart();
        rank.conditions.clock->advance(before);
        EXPECT_EQ(count_wrong(transport, block), 0U);
        return rank.seconds();
      };
      alone[own] = taken(0, 100);
      late[own] = taken(own == 2 ? 1 : 0.5, 100);
      longer[own] = taken(0, 200000);
    });
    for (std::size_t rank = 0; rank < alone.size(); ++rank) {
      EXPECT_GT(alone[rank], 0) << name;
      EXPECT_NEAR(late[rank], 1 + alone[rank], 1e-12) << name;
      EXPECT_GT(longer[rank], alone[rank]) << name;
    }
  }
}

TEST_F(BoardTransportOver, AFaultSpoilsWhatArrivesElsewhere) {
  using Kind = runtime::Fault::Kind;
  for (const std::string& name : kTransports) {
    for (const Kind kind : {Kind::kLate, Kind::kSwapped, Kind::kHalf, Kind::kBlank, Kind::kFlipped}) {
      std::vector<std::size_t> wrong(4);
      const auto exchange = [&](transport::Transport& transport, Rank&) {
        wrong[static_cast<std::size_t>(transport.ranks().rank())] = count_wrong(transport, 1000);
      };
      each(4, {{"transport", name}}, exchange, runtime::Fault{.kind = kind, .rank = 1});
      EXPECT_EQ(wrong[1], 0U) << name;
      EXPECT_GT(std::accumulate(wrong.begin(), wrong.end(), std::size_t{0}), 0U) << name;
    }
  }
}

TEST_F(BoardTransportOver, ALostMessageEndsTheExchange) {
  for (const std::string& name : kTransports) {
    for (const auto kind : {runtime::Fault::Kind::kLost, runtime::Fault::Kind::kDead}) {
      const auto exchange = [&](transport::Transport& transport, Rank&) {
        const std::string message =
            message_of([&] { count_wrong(transport, 1000); }, ExitCode::kInvalidResult);
        EXPECT_FALSE(message.empty()) << name;
      };
      each(4, {{"transport", name}}, exchange, runtime::Fault{.kind = kind, .rank = 1});
    }
  }
}

TEST_F(BoardTransportOver, WhatIsNoCollectiveIsRefused) {
  for (const std::string& name : kTransports) {
    each(2, {{"transport", name}}, [&](transport::Transport& transport, Rank&) {
      const auto memory = transport.allocate(4);
      const std::string message = message_of([&] { transport.send({{memory.get(), 0, 4}, 1, 0}); });
      EXPECT_TRUE(mentions(message, name)) << message;
      const auto space = memory->space();
      EXPECT_FALSE(transport.supports(space, space, transport::Operation::kMessage));
      EXPECT_TRUE(transport.supports(space, space, transport::Operation::kCollective));
    });
  }
  const auto refused = [&](const Options& options, const char* what) {
    runtime::run_in_process(4, [&](Communicator& ranks) {
      const std::string message = message_of([&] { Rank rank(ranks, file_, options, std::nullopt); });
      EXPECT_TRUE(mentions(message, what)) << message;
      return 0;
    });
  };
  refused({{"transport", "accl-tcp"}, {"mode", "streaming"}}, "--mode streaming");
  refused({{"transport", "channels"}, {"topology", "switch:4"}}, "switch:4");
}

}  // namespace

}  // namespace fabricmark::board
