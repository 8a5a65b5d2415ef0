// The engine of messages: what calls do, and what they take.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectives/reference.hpp"
#include "engine_support.hpp"

namespace fabricmark::accl {
namespace {

using network::Protocol;

class EngineOver : public testing::TestWithParam<Protocol> {
 protected:
  static Devices devices(int ranks) {
    Devices all;
    all.ranks = ranks;
    all.network = network_of(GetParam());
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Protocols, EngineOver,
                         testing::Values(Protocol::kUdp, Protocol::kTcp, Protocol::kRdma));

TEST_P(EngineOver, SendsAndReceives) {
  for (const std::size_t count : {0, 1, 7, 1000, 100'000}) {
    std::vector<float> result(count);
    run(devices(2), [&](const Rank& rank) {
      auto mine = counting(count, 3);
      if (rank.host.device() == 0) {
        EXPECT_EQ(rank.accl.send(view(mine), 1, 5).wait().text, "");
      } else {
        EXPECT_EQ(rank.accl.recv(view(result), 0, 5).wait().text, "");
      }
      rank.accl.finish();
    });
    EXPECT_EQ(result, counting(count, 3)) << count;
  }
}

// Meyer (2024), eq. 5.1: a message from memory to memory takes 2 l_k + l_m + l_c, where the second call is
// issued when the first has ended.
TEST_P(EngineOver, ABufferedMessageTakesItsParts) {
  constexpr std::size_t kCount = 16;
  double seconds = 0;
  run(devices(2), [&](const Rank& rank) {
    auto mine = counting(kCount, 0);
    std::vector<float> other(kCount);
    if (rank.host.device() == 0) {
      rank.accl.send(view(mine), 1).wait();
    } else {
      auto request = rank.accl.recv(view(other), 0);
      request.wait();
      seconds = request.duration();
    }
    rank.accl.finish();
  });
  const double wire = kWire + (64 + 64 + 78) / kRate;
  EXPECT_NEAR(seconds, kHostIssue + wire + kCopyLatency + 64 / 14e9, 1e-9);
}

TEST_P(EngineOver, EveryCollectiveOperationIsRight) {
  using namespace collectives;
  for (const int ranks : {2, 3, 5, 8}) {
    for (const Algorithm& algorithm : algorithms()) {
      const Operation operation = algorithm.operation;
      constexpr std::size_t kCount = 7;
      const collectives::Call shape{.operation = operation, .root = ranks - 1, .count = kCount};
      if (!algorithm.fits({operation, ranks, kCount * 4, {}})) continue;
      std::vector<std::size_t> wrong(static_cast<std::size_t>(ranks), 1);
      run(devices(ranks), [&](const Rank& rank) {
        const int own = rank.host.device();
        collectives::Call call = shape;
        std::vector<float> in(own_count(operation, own, call.root, ranks, kCount));
        std::vector<float> out(result_count(operation, own, call.root, ranks, kCount), -1.0F);
        call.own = view(in);
        call.result = view(out);
        fill_input({}, own, call.own);
        if (operation == Operation::kBroadcast && own == call.root) out = in;
        const Result result = rank.accl.collective(call, 0, std::string(algorithm.name)).wait();
        EXPECT_EQ(result.text, "") << algorithm.name;
        wrong[static_cast<std::size_t>(own)] = compare({}, call, own, ranks).wrong;
        rank.accl.finish();
      });
      for (const std::size_t elements : wrong) {
        EXPECT_EQ(elements, 0U) << name_of(operation) << " " << algorithm.name << " " << ranks;
      }
    }
  }
}

}  // namespace
}  // namespace fabricmark::accl
