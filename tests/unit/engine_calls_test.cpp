// Calls of the engine one by one: streams, kernels that call, memory of others, what goes wrong.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine_support.hpp"
#include "kernels/common/accl.hpp"

namespace fabricmark::accl {
namespace {

using dataflow::stream;
using network::Protocol;

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
        seconds = network::seconds(rank.host.now());
      }
      rank.accl.finish();
    });
    EXPECT_EQ(values, counting(kWords * 16, 0));
    // The first words leave when a packet is full, and later ones follow at the rate of the stream.
    const double streamed = kWords * 4e-9;
    EXPECT_GT(seconds, kHostIssue + kWire + streamed);
    EXPECT_LT(seconds, kHostIssue + kWire + streamed + 2e-6);
  }
}

void ping(stream<fm::accl_request>& commands, stream<Status>& statuses, std::uint64_t memory,
          fm::accl_use use, unsigned int count, int peer, unsigned int* status) {
  fm::accl_issue(commands, fm::accl_send(use, fm::accl_memory(memory), count, peer, 7));
  *status = fm::accl_wait(statuses);
}

void pong(stream<fm::accl_request>& commands, stream<Status>& statuses, std::uint64_t memory,
          fm::accl_use use, unsigned int count, int peer, unsigned int* status) {
  fm::accl_issue(commands, fm::accl_recv(use, fm::accl_memory(memory), count, peer, 7));
  *status = fm::accl_wait(statuses);
}

// Who calls changes what it takes, never what it does.
TEST(EngineCalls, KernelsCallForLessThanTheirHost) {
  constexpr std::size_t kCount = 16;
  std::vector<float> other(kCount);
  unsigned int statuses[2] = {~0U, ~0U};
  double ended = 0;
  run(devices(Protocol::kUdp), [&](const Rank& rank) {
    auto mine = counting(kCount, 4);
    const int own = rank.host.device();
    const auto commands = std::make_shared<stream<fm::accl_request>>("commands");
    const auto answers = std::make_shared<stream<Status>>("statuses");
    rank.accl.keep(commands);
    rank.accl.keep(answers);
    rank.accl.connect_logic(*commands, *answers);
    const std::uint64_t memory = rank.accl.address_of(view(own == 0 ? mine : other));
    const auto event = rank.host.start("kernel", {}, own == 0 ? ping : pong, *commands, *answers, memory,
                                       rank.accl.use(Type::kFloat32), static_cast<unsigned int>(kCount),
                                       1 - own, &statuses[own]);
    event.wait();
    if (own == 1) ended = network::seconds(rank.host.now());
    rank.accl.finish();
  });
  EXPECT_EQ(statuses[0], 0U);
  EXPECT_EQ(statuses[1], 0U);
  EXPECT_EQ(other, counting(kCount, 4));
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
      auto mine = counting(kCount, 0);
      if (rank.host.device() == 0) {
        rank.accl.send(view(mine), 1).wait();
      } else {
        auto request = rank.accl.recv(view(result), 0);
        EXPECT_EQ(request.wait().text, "");
        (is_eager ? eager : rendezvous) = request.duration();
      }
      rank.accl.finish();
    });
    EXPECT_EQ(result, counting(kCount, 0));
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
        auto mine = counting(10, 5);
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
    auto one = counting(1, 1);
    auto two = counting(1, 2);
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

// Times depend on nothing but the calls.
TEST(EngineTimes, AreTheSameWithAnyWorkersAndOrder) {
  std::vector<network::Time> times;
  for (const int workers : {1, 2, 8}) {
    for (const std::optional<std::uint64_t> seed :
         {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{7}}) {
      Devices all = devices(Protocol::kTcp, 8);
      all.network.faults = {3, 0.02, 0.02, 0.02};
      all.workers = workers;
      all.seed = seed;
      network::Time latest = 0;
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
  for (const network::Time time : times) EXPECT_EQ(time, times.front());
}

// Time-outs of calls that have ended keep nobody waiting, and later calls go on from there.
TEST(EngineTimes, GoOnFromTheEndOfTheCallsBefore) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    run(devices(protocol), [&](const Rank& rank) {
      double seconds = 0;
      for (int part = 0; part < 3; ++part) {
        rank.meet();
        const double begin = network::seconds(rank.host.now());
        std::vector<float> values(100, static_cast<float>(part));
        if (rank.host.device() == 0) {
          EXPECT_EQ(rank.accl.send(view(values), 1).wait().text, "");
        } else {
          EXPECT_EQ(rank.accl.recv(view(values), 0).wait().text, "");
        }
        rank.accl.finish();
        const double took = network::seconds(rank.host.now()) - begin;
        EXPECT_LT(took, 100e-6) << "the time-out is a second";
        EXPECT_NEAR(took, part > 0 ? seconds : took, 1e-12);
        seconds = took;
      }
    });
  }
}

}  // namespace
}  // namespace fabricmark::accl
