// What fails is told by name on every rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine_support.hpp"

namespace fabricmark::accl {
namespace {

using network::Protocol;

std::vector<Result> failing(const Devices& all, const std::function<Result(const Rank&)>& call) {
  std::vector<Result> results(static_cast<std::size_t>(all.ranks));
  run(all, [&](const Rank& rank) {
    results[static_cast<std::size_t>(rank.host.device())] = call(rank);
    rank.host.finish();
  });
  return results;
}

void expect_failure(const std::vector<Result>& results, Code code, const std::string& text) {
  int own = 0;
  for (const Result& result : results) {
    EXPECT_TRUE(result.code == code || result.code == Code::kPeerFailed) << name_of(result.code);
    EXPECT_NE(result.text.find(text), std::string::npos) << result.text;
    own += result.code == code ? 1 : 0;
  }
  EXPECT_GE(own, 1);
}

TEST(EngineFailures, CallsThatDiffer) {
  for (const int ranks : {2, 5}) {
    const auto results = failing(devices(Protocol::kTcp, ranks), [](const Rank& rank) {
      std::vector<float> values(rank.host.device() == 1 ? 8 : 7);
      return rank.accl.collective(all_reduce(values)).wait();
    });
    expect_failure(results, Code::kCallsDiffer, "count");
  }
}

// A root may be done before it hears of it: then the end of the run tells.
TEST(EngineFailures, RootsThatDiffer) {
  run(devices(Protocol::kTcp, 3), [](const Rank& rank) {
    std::vector<float> values(7);
    collectives::Call call{.operation = collectives::Operation::kBroadcast, .count = 7};
    call.root = rank.host.device() == 2 ? 2 : 0;
    call.own = call.result = view(values);
    rank.accl.collective(call).wait();
    try {
      rank.accl.finish();
      ADD_FAILURE() << "rank " << rank.host.device() << " was told nothing";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("another operation, root"), std::string::npos) << error.what();
    }
  });
}

TEST(EngineFailures, AnUnknownRank) {
  const auto results = failing(devices(Protocol::kTcp), [](const Rank& rank) {
    std::vector<float> values(1);
    return rank.host.device() == 0 ? rank.accl.send(view(values), 2).wait()
                                   : rank.accl.recv(view(values), 0).wait();
  });
  expect_failure(results, Code::kUnknownRank, "ranks 0 to 1");
}

TEST(EngineFailures, AnUnknownTag) {
  const auto results = failing(devices(Protocol::kTcp), [](const Rank& rank) {
    std::vector<float> values(1);
    if (rank.host.device() == 0) {
      rank.accl.send(view(values), 1, 4).wait();
      return rank.accl.recv(view(values), 1, 9).wait();
    }
    return rank.accl.recv(view(values), 0, 5).wait();
  });
  EXPECT_EQ(results[1].code, Code::kTimeOut);
  EXPECT_NE(results[1].text.find("a message with tag 4 came from there"), std::string::npos)
      << results[1].text;
  EXPECT_FALSE(results[0].is_done());
}

TEST(EngineFailures, AMessageThatIsTooLong) {
  Devices all = devices(Protocol::kTcp);
  all.engine.rx_buffers = 2;
  all.engine.rx_bytes = 1024;
  const auto results = failing(all, [](const Rank& rank) {
    std::vector<float> values(513);
    return rank.host.device() == 0 ? rank.accl.send(view(values), 1).wait()
                                   : rank.accl.recv(view(values), 0).wait();
  });
  expect_failure(results, Code::kMessageTooLong, "2 receive buffers of 1024 bytes");
}

TEST(EngineFailures, LossOverUdpIsCounted) {
  Devices all = devices(Protocol::kUdp);
  all.network.faults = {1, 0.05, 0, 0};
  std::vector<float> values(100'000, -1.0F);
  Result result;
  run(all, [&](const Rank& rank) {
    std::vector<float> sent(values.size(), 1.0F);
    if (rank.host.device() == 0) {
      rank.accl.send(view(sent), 1).wait();
    } else {
      result = rank.accl.recv(view(values), 0).wait();
    }
    rank.host.finish();
  });
  EXPECT_EQ(result.code, Code::kPacketsLost);
  const auto lost = static_cast<std::size_t>(std::ranges::count(values, -1.0F));
  EXPECT_GT(lost, 0U);
  EXPECT_NEAR(static_cast<double>(result.lost_bytes), 4.0 * static_cast<double>(lost), 4.0 * 100);
}

TEST(EngineFailures, NothingIsLostOverTcpAndRdma) {
  for (const Protocol protocol : {Protocol::kTcp, Protocol::kRdma}) {
    Devices all = devices(protocol, 4);
    all.network.faults = {1, 0.05, 0.05, 0.05};
    run(all, [&](const Rank& rank) {
      std::vector<float> values(10'000, 1.0F);
      const Result result = rank.accl.collective(all_reduce(values)).wait();
      EXPECT_EQ(result.text, "");
      EXPECT_EQ(std::ranges::count(values, 4.0F), 10'000);
      rank.accl.finish();
    });
  }
}

TEST(EngineFailures, ADeadDevice) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    const auto results = failing(devices(protocol, 4), [&](const Rank& rank) {
      std::vector<float> values(100);
      if (rank.host.device() == 2) {
        rank.accl.kill_device();
        rank.ranks.barrier();
        return Result{Code::kPeerFailed, "rank 2"};
      }
      rank.ranks.barrier();
      return rank.accl.collective(all_reduce(values)).wait();
    });
    for (const Result& result : results) {
      EXPECT_FALSE(result.is_done());
      EXPECT_LT(result.ended, 10);
      EXPECT_NE(result.text.find("rank 2"), std::string::npos) << result.text;
    }
  }
}

TEST(EngineFailures, AMinimalEngineRefusesByName) {
  Devices all = devices(Protocol::kTcp);
  all.engine.has_arithmetic = false;
  all.engine.has_compression = false;
  const auto results = failing(all, [](const Rank& rank) {
    std::vector<float> values(4);
    return rank.accl.collective(all_reduce(values)).wait();
  });
  expect_failure(results, Code::kNotSupported, "minimal");
  const auto others = failing(all, [](const Rank& rank) {
    std::vector<float> values(4);
    collectives::Call call = all_reduce(values);
    call.operation = collectives::Operation::kBroadcast;
    return rank.accl.collective(call, 0, "", true).wait();
  });
  expect_failure(others, Code::kNotSupported, "without compression");
}

TEST(EngineFailures, MessagesThatNobodyReceives) {
  run(devices(Protocol::kTcp), [](const Rank& rank) {
    std::vector<float> values(4);
    if (rank.host.device() == 0) {
      rank.accl.send(view(values), 1, 3).wait();
      rank.accl.finish();
    } else {
      EXPECT_THROW(rank.accl.finish(), Error);
    }
  });
}

}  // namespace
}  // namespace fabricmark::accl
