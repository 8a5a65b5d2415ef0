// Calls of the engine one by one: streams, kernels that call, memory of others, what goes wrong.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine_support.hpp"
#include "kernels/common/accl.hpp"

namespace fabricmark::engine {
namespace {

using dataflow::stream;
using fabric::Protocol;

struct Word {
  float value[16];
};

Devices devices(Protocol protocol, int ranks = 2) {
  Devices all;
  all.ranks = ranks;
  all.network = network_of(protocol);
  return all;
}

std::vector<float> numbers(std::size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

void take_words(stream<Word>& in, int words, std::vector<float>* values) {
  for (int i = 0; i < words; ++i) {
    const Word word = in.read();
    values->insert(values->end(), std::begin(word.value), std::end(word.value));
  }
}

void make_words(stream<Word>& out, int words) {
  for (int i = 0; i < words; ++i) {
    Word word{};
    for (int k = 0; k < 16; ++k) word.value[k] = static_cast<float>(16 * i + k);
    out.write(word);
  }
}

// l_k + l_c: a message from kernel to kernel needs one call and no memory.
TEST(EngineCalls, KernelsStreamToKernels) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    constexpr int kWords = 64;
    std::vector<float> values;
    double seconds = 0;
    run(devices(protocol), [&](const Rank& rank) {
      // Streams stay as long as the fabric.
      const auto words = std::make_shared<stream<Word, 4>>("words");
      rank.accl.keep(words);
      if (rank.host.device() == 0) {
        rank.accl.connect_from_kernel(3, *words);
        rank.host.start("make_words", {}, make_words, *words, kWords);
        EXPECT_EQ(rank.accl
                      .start({.kind = Kind::kStreamPut,
                              .peer = 1,
                              .count = kWords * 16,
                              .a = {{}, 3},
                              .remote_stream = 9})
                      .wait()
                      .text,
                  "");
      } else {
        rank.accl.connect_to_kernel(9, *words);
        const auto event = rank.host.start("take_words", {}, take_words, *words, kWords, &values);
        event.wait();
        seconds = fabric::seconds(rank.host.now());
      }
      rank.accl.finish();
    });
    EXPECT_EQ(values, numbers(kWords * 16, 0));
    // The first words leave when a packet is full, and later ones follow at the rate of the stream.
    const double streamed = kWords * 4e-9;
    EXPECT_GT(seconds, kHostIssue + kWire + streamed);
    EXPECT_LT(seconds, kHostIssue + kWire + streamed + 2e-6);
  }
}

void ping(stream<Command>& commands, stream<Status>& statuses, int memory, int count, int peer,
          Status* status) {
  commands.write(fm::accl_send(fm::accl_memory(memory, 0), static_cast<unsigned long long>(count), peer, 7));
  *status = statuses.read();
}

void pong(stream<Command>& commands, stream<Status>& statuses, int memory, int count, int peer,
          Status* status) {
  commands.write(fm::accl_recv(fm::accl_memory(memory, 0), static_cast<unsigned long long>(count), peer, 7));
  *status = statuses.read();
}

// Who calls changes what it takes, never what it does.
TEST(EngineCalls, KernelsCallForLessThanTheirHost) {
  constexpr std::size_t kCount = 16;
  std::vector<float> other(kCount);
  Status statuses[2] = {{-1, 0}, {-1, 0}};
  double ended = 0;
  run(devices(Protocol::kUdp), [&](const Rank& rank) {
    auto mine = numbers(kCount, 4);
    const int own = rank.host.device();
    const auto commands = std::make_shared<stream<Command>>("commands");
    const auto answers = std::make_shared<stream<Status>>("statuses");
    rank.accl.keep(commands);
    rank.accl.keep(answers);
    rank.accl.connect_logic(*commands, *answers);
    const auto memory = static_cast<int>(rank.accl.register_memory(view(own == 0 ? mine : other)));
    const auto event = rank.host.start("kernel", {}, own == 0 ? ping : pong, *commands, *answers, memory,
                                       static_cast<int>(kCount), 1 - own, &statuses[own]);
    event.wait();
    if (own == 1) ended = fabric::seconds(rank.host.now());
    rank.accl.finish();
  });
  EXPECT_EQ(statuses[0].code, 0);
  EXPECT_EQ(statuses[1].code, 0);
  EXPECT_EQ(other, numbers(kCount, 4));
  const double wire = kWire + (64 + 64 + 66 + 12) / kRate;
  EXPECT_NEAR(ended - kHostIssue, kLogicIssue + wire + kCopyLatency + 64 / 14e9, 0.02e-6);
}

TEST(EngineCalls, LongMessagesGoStraightIntoTheirPlaceOverRdma) {
  constexpr std::size_t kCount = 1 << 18;
  double eager = 0;
  double rendezvous = 0;
  for (const bool is_eager : {true, false}) {
    Devices all = devices(Protocol::kRdma);
    if (!is_eager) all.engine.eager_bytes = 4096;
    std::vector<float> result(kCount);
    run(all, [&](const Rank& rank) {
      auto mine = numbers(kCount, 0);
      if (rank.host.device() == 0) {
        rank.accl.send(view(mine), 1).wait();
      } else {
        auto request = rank.accl.recv(view(result), 0);
        EXPECT_EQ(request.wait().text, "");
        (is_eager ? eager : rendezvous) = request.duration();
      }
      rank.accl.finish();
    });
    EXPECT_EQ(result, numbers(kCount, 0));
  }
  const double bytes = 4.0 * kCount;
  EXPECT_NEAR(eager - rendezvous, bytes / 14e9 + kCopyLatency - 2 * kWire, 0.2e-6);
}

TEST(EngineCalls, PutWritesWhileTheReceiverComputes) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    std::vector<float> memory(100, -1.0F);
    run(devices(protocol), [&](const Rank& rank) {
      if (rank.host.device() == 1) {
        EXPECT_EQ(rank.accl.register_memory(view(memory)), 0U);
      }
      rank.meet();
      if (rank.host.device() == 0) {
        auto mine = numbers(10, 5);
        const Result result = rank.accl.put(view(mine), 1, 0, 20).wait();
        EXPECT_EQ(result.code, protocol == Protocol::kRdma ? Code::kDone : Code::kNotSupported);
      }
      rank.host.finish();
    });
    EXPECT_EQ(memory[19], -1.0F);
    EXPECT_EQ(memory[20], protocol == Protocol::kRdma ? 5.0F : -1.0F);
    EXPECT_EQ(memory[30], -1.0F);
  }
}

TEST(EngineCalls, TagsMatch) {
  std::vector<float> first(1);
  std::vector<float> second(1);
  run(devices(Protocol::kTcp), [&](const Rank& rank) {
    auto one = numbers(1, 1);
    auto two = numbers(1, 2);
    if (rank.host.device() == 0) {
      rank.accl.send(view(one), 1, 11).wait();
      rank.accl.send(view(two), 1, 12).wait();
    } else {
      rank.accl.recv(view(second), 0, 12).wait();
      rank.accl.recv(view(first), 0, kAnyTag).wait();
    }
    rank.accl.finish();
  });
  EXPECT_EQ(first[0], 1.0F);
  EXPECT_EQ(second[0], 2.0F);
}

TEST(EngineCalls, CompressedMessagesTakeHalfTheWire) {
  constexpr std::size_t kCount = 1 << 16;
  double seconds[2] = {};
  for (const bool is_compressed : {false, true}) {
    run(devices(Protocol::kTcp), [&](const Rank& rank) {
      std::vector<float> values(kCount, 1.5F + static_cast<float>(rank.host.device()));
      collectives::Call call{.operation = collectives::Operation::kAllReduce, .count = kCount};
      call.own = call.result = view(values);
      auto request = rank.accl.collective(call, 0, "recursive_doubling", is_compressed);
      EXPECT_EQ(request.wait().text, "");
      EXPECT_EQ(values[1], 4.0F);
      if (rank.host.device() == 0) seconds[is_compressed ? 1 : 0] = request.duration();
      rank.accl.finish();
    });
  }
  EXPECT_NEAR(seconds[0] - seconds[1], kCount * 2 * (1538.0 / 1460) / kRate, 1e-6);
}

TEST(EngineCalls, CommunicatorsAreApart) {
  std::vector<float> sums(4);
  run(devices(Protocol::kTcp, 4), [&](const Rank& rank) {
    const int own = rank.host.device();
    const int half = rank.accl.communicator(own % 2 == 0 ? std::vector{0, 2} : std::vector{3, 1});
    std::vector<float> value(1, static_cast<float>(1 << own));
    collectives::Call call{.operation = collectives::Operation::kAllReduce, .count = 1};
    call.own = call.result = view(value);
    EXPECT_EQ(rank.accl.collective(call, half).wait().text, "");
    sums[static_cast<std::size_t>(own)] = value[0];
    rank.accl.finish();
  });
  EXPECT_EQ(sums, (std::vector<float>{5, 10, 5, 10}));
}

// What fails is told by name on every rank.

std::vector<Result> failing(const Devices& all, const std::function<Result(const Rank&)>& call) {
  std::vector<Result> results(static_cast<std::size_t>(all.ranks));
  run(all, [&](const Rank& rank) {
    results[static_cast<std::size_t>(rank.host.device())] = call(rank);
    rank.host.finish();
  });
  return results;
}

collectives::Call all_reduce(std::vector<float>& values) {
  collectives::Call call{.operation = collectives::Operation::kAllReduce, .count = values.size()};
  call.own = call.result = view(values);
  return call;
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

TEST(EngineFailures, ReceiveBuffersThatAreExhausted) {
  Devices all = devices(Protocol::kUdp, 3);
  all.engine.rx_buffers = 2;
  all.engine.rx_bytes = 1024;
  const auto results = failing(all, [](const Rank& rank) {
    std::vector<float> values(256);
    if (rank.host.device() < 2) {
      Result last;
      for (int i = 0; i < 2; ++i) last = rank.accl.send(view(values), 2, i).wait();
      return last.is_done() ? rank.accl.recv(view(values), 2).wait() : last;
    }
    std::vector<float> other(256);
    rank.accl.copy(view(other), view(values)).wait();
    rank.host.pass_until(fabric::from_seconds(1e-3));
    Result last;
    for (int i = 0; i < 4 && last.is_done(); ++i) last = rank.accl.recv(view(values), i / 2, i % 2).wait();
    return last;
  });
  expect_failure(results, Code::kPoolExhausted, "receive buffers");
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

// Times depend on nothing but the calls.
TEST(EngineTimes, AreTheSameWithAnyWorkersAndOrder) {
  std::vector<fabric::Time> times;
  for (const int workers : {1, 2, 8}) {
    for (const std::optional<std::uint64_t> seed :
         {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{7}}) {
      Devices all = devices(Protocol::kTcp, 8);
      all.network.faults = {3, 0.02, 0.02, 0.02};
      all.workers = workers;
      all.seed = seed;
      fabric::Time latest = 0;
      run(all, [&](const Rank& rank) {
        std::vector<float> values(3000, 1.0F);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(rank.accl.collective(all_reduce(values)).wait().text, "");
        const auto end = rank.ranks.all_reduce_max(rank.host.now());
        if (rank.host.device() == 0) latest = end;
        rank.accl.finish();
      });
      times.push_back(latest);
    }
  }
  for (const fabric::Time time : times) EXPECT_EQ(time, times.front());
}

}  // namespace
}  // namespace fabricmark::engine
