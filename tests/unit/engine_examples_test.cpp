// What ACCL's own programs call, with this engine's calls, gives what they expect: test/host/xrt/src/test.cpp
// (commit 8f4496c) and test/host/hls/test.cpp (commit 077bd10) of github.com/Xilinx/ACCL. Nothing of their
// text is here. Their settings: 16 elements, 16 receive buffers of 1 KiB, eager up to 16 KiB. As there, all
// ranks have the same numbers, and the stream to the kernels comes back as the stream from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "engine_examples.hpp"

namespace fabricmark::accl {
namespace {

using network::Protocol;

using namespace examples;

class EngineExamples : public testing::TestWithParam<Protocol> {
 protected:
  static void on_ranks(const std::function<void(const Rank&)>& body) {
    Devices all;
    all.ranks = kRanks;
    all.network = network_of(GetParam());
    all.engine.rx_bytes = 1024;
    all.engine.eager_bytes = 16 * 1024;
    run(all, [&](const Rank& rank) {
      body(rank);
      rank.accl.finish();
    });
  }
  static int next(const Rank& rank) { return (rank.host.device() + 1) % kRanks; }
  static int before(const Rank& rank) { return (rank.host.device() + kRanks - 1) % kRanks; }
};

INSTANTIATE_TEST_SUITE_P(Protocols, EngineExamples,
                         testing::Values(Protocol::kUdp, Protocol::kTcp, Protocol::kRdma));

TEST_P(EngineExamples, CopyAndCopyStreamAndCombine) {
  on_ranks([](const Rank& rank) {
    const Looped looped(rank);
    Values from = numbers(kCount);
    Values to(kCount);
    expect_done(rank.accl.copy(view(from), view(to)));
    EXPECT_EQ(to, from);

    std::ranges::fill(to, 0.0F);
    looped.loop(kCount);
    expect_done(rank.accl.copy_to_stream(view(from), kStream));
    expect_done(rank.accl.copy_from_stream(kStream, view(to)));
    EXPECT_EQ(to, from);

    Values other(from.rbegin(), from.rend());
    expect_done(rank.accl.combine(Reduction::kSum, view(from), view(other), view(to)));
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(to[i], from[i] + other[i]);
    expect_done(rank.accl.combine(Reduction::kMax, view(from), view(other), view(to)));
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(to[i], std::max(from[i], other[i]));
  });
}

// test_sendrcv_basic: even ranks and the odd ones behind them.
TEST_P(EngineExamples, SendRecvBasic) {
  on_ranks([](const Rank& rank) {
    Values from = numbers(kCount);
    Values to(kCount);
    if (rank.host.device() % 2 == 0) {
      expect_done(rank.accl.send(view(from), next(rank), 0));
      expect_done(rank.accl.recv(view(to), next(rank), 1));
    } else {
      expect_done(rank.accl.recv(view(to), before(rank), 0));
      expect_done(rank.accl.send(view(to), before(rank), 1));
    }
    EXPECT_EQ(to, from);
  });
}

// test_sendrcv and test_sendrcv_segmentation: around the ring and back, one element less and more than 1 or 2
// receive buffers take.
TEST_P(EngineExamples, SendRecvAndItsSegments) {
  for (const std::size_t count : {kCount, kOfBuffer - 1, kOfBuffer, kOfBuffer + 1, 2 * kOfBuffer - 1,
                                  2 * kOfBuffer, 2 * kOfBuffer + 1}) {
    on_ranks([&](const Rank& rank) {
      Values from = numbers(count);
      Values to(count);
      expect_done(rank.accl.send(view(from), next(rank), 0));
      expect_done(rank.accl.recv(view(to), before(rank), 0));
      expect_done(rank.accl.send(view(to), before(rank), 1));
      std::ranges::fill(to, 0.0F);
      expect_done(rank.accl.recv(view(to), next(rank), 1));
      EXPECT_EQ(to, from);
    });
  }
}

// test_sendrcv_stream: what comes goes through the loop and back.
TEST_P(EngineExamples, SendRecvStream) {
  on_ranks([](const Rank& rank) {
    const Looped looped(rank);
    Values from = numbers(kCount);
    Values to(kCount);
    looped.loop(kCount);
    expect_done(rank.accl.send(view(from), next(rank), 0));
    expect_done(recv_stream(rank, kCount, before(rank), 0));
    expect_done(send_stream(rank, kCount, before(rank), 1));
    expect_done(rank.accl.recv(view(to), next(rank), 1));
    EXPECT_EQ(to, from);
  });
}

TEST_P(EngineExamples, StreamPut) {
  on_ranks([](const Rank& rank) {
    const Looped looped(rank);
    Values from = numbers(kCount);
    Values to(kCount);
    looped.loop(kCount);
    expect_done(rank.accl.stream_put(view(from), next(rank), kStream));
    expect_done(send_stream(rank, kCount, before(rank), 1));
    expect_done(rank.accl.recv(view(to), next(rank), 1));
    EXPECT_EQ(to, from);
  });
}

TEST_P(EngineExamples, SendRecvCompressed) {
  on_ranks([](const Rank& rank) {
    Values from = numbers(kCount);
    Values to(kCount);
    const auto start = [&](Kind kind, Values& values, int peer, int tag) {
      Call made{.kind = kind, .peer = peer, .tag = tag, .count = kCount, .is_compressed = true};
      Operand& operand = kind == Kind::kSend ? made.a : made.result;
      operand.memory = view(values);
      expect_done(rank.accl.start(made));
    };
    start(Kind::kSend, from, next(rank), 0);
    start(Kind::kRecv, to, before(rank), 0);
    expect_near(to, from, true);
    EXPECT_NE(to, from);
    start(Kind::kSend, from, before(rank), 1);
    start(Kind::kRecv, to, next(rank), 1);
    expect_near(to, from, true);
  });
}

// test_bcast, test_scatter, test_gather, with each root, and compressed.
TEST_P(EngineExamples, RootedCalls) {
  on_ranks([](const Rank& rank) {
    const auto own = static_cast<std::size_t>(rank.host.device());
    const Values all = numbers(kRanks * kCount);
    const Values one = part(all, 0, kCount);
    for (int root = 0; root < kRanks; ++root) {
      const bool is_root = rank.host.device() == root;
      for (const bool is_compressed : {false, true}) {
        Called what{.root = root, .is_compressed = is_compressed};
        what.operation = Operation::kBroadcast;
        Values result(kCount);
        call(rank, what, is_root ? one : Values{}, result, kCount);
        expect_near(result, one, is_compressed);

        what.operation = Operation::kScatter;
        call(rank, what, is_root ? all : Values{}, result, kCount);
        expect_near(result, part(all, own * kCount, kCount), is_compressed);

        what.operation = Operation::kGather;
        Values gathered(is_root ? kRanks * kCount : 0);
        call(rank, what, part(all, own * kCount, kCount), gathered, kCount);
        if (is_root) expect_near(gathered, all, is_compressed);
      }
    }
  });
}

/// What all ranks together have of the same numbers.
Values reduced(const Values& of, Reduction reduction) {
  Values expected = of;
  for (float& value : expected) value *= reduction == Reduction::kSum ? kRanks : 1;
  return expected;
}

TEST_P(EngineExamples, Reductions) {
  on_ranks([](const Rank& rank) {
    const auto own = static_cast<std::size_t>(rank.host.device());
    const Values all = numbers(kRanks * kCount);
    const Values one = part(all, 0, kCount);
    for (const Reduction reduction : {Reduction::kSum, Reduction::kMax}) {
      for (const bool is_compressed : {false, true}) {
        Called what{.reduction = reduction, .is_compressed = is_compressed};
        Values result(kCount);
        what.operation = Operation::kAllReduce;
        call(rank, what, one, result, kCount);
        expect_near(result, reduced(one, reduction), is_compressed);
        what.operation = Operation::kReduceScatter;
        call(rank, what, all, result, kCount);
        expect_near(result, reduced(part(all, own * kCount, kCount), reduction), is_compressed);
        what.operation = Operation::kReduce;
        for (what.root = 0; what.root < kRanks; ++what.root) {
          Values reduced_here(rank.host.device() == what.root ? kCount : 0);
          call(rank, what, one, reduced_here, kCount);
          if (!reduced_here.empty()) expect_near(reduced_here, reduced(one, reduction), is_compressed);
        }
      }
    }
  });
}

// test_reduce_stream2mem, test_reduce_mem2stream, test_reduce_stream2stream.
TEST_P(EngineExamples, ReduceFromAndToStreams) {
  on_ranks([](const Rank& rank) {
    const Looped looped(rank);
    Values from = numbers(kCount);
    for (int root = 0; root < kRanks; ++root) {
      const bool is_root = rank.host.device() == root;
      for (const Reduction reduction : {Reduction::kSum, Reduction::kMax}) {
        for (const auto& [is_from_stream, is_to_stream] :
             {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
          Values to(kCount);
          Call made{.kind = Kind::kCollective, .peer = root, .count = kCount};
          made.reduction = reduction;
          made.collective = {.operation = Operation::kReduce, .root = root, .count = kCount};
          made.collective.reduction = reduction;
          if (is_from_stream) {
            looped.loop(kCount);
            expect_done(rank.accl.copy_to_stream(view(from), kStream));
            made.a = {{}, kStream};
          } else {
            made.collective.own = view(from);
          }
          if (is_to_stream) made.result = {{}, kStream};
          if (!is_to_stream && is_root) made.collective.result = view(to);
          if (is_to_stream && is_root) looped.loop(kCount);
          expect_done(rank.accl.start(made));
          if (!is_root) continue;
          if (is_to_stream) expect_done(rank.accl.copy_from_stream(kStream, view(to)));
          expect_near(to, reduced(from, reduction), false);
        }
      }
    }
  });
}

// test_alltoall, test_allgather, test_allgather_compressed, test_barrier.
TEST_P(EngineExamples, AllToAllAndAllGatherAndBarrier) {
  on_ranks([](const Rank& rank) {
    const auto own = static_cast<std::size_t>(rank.host.device());
    const Values all = numbers(kRanks * kRanks * kCount);
    Values result(kRanks * kCount);
    call(rank, {.operation = Operation::kAllToAll}, part(all, own * kRanks * kCount, kRanks * kCount), result,
         kCount);
    for (std::size_t from = 0; from < kRanks; ++from) {
      EXPECT_EQ(part(result, from * kCount, kCount), part(all, (from * kRanks + own) * kCount, kCount));
    }
    for (const bool is_compressed : {false, true}) {
      call(rank, {.operation = Operation::kAllGather, .is_compressed = is_compressed},
           part(all, own * kCount, kCount), result, kCount);
      expect_near(result, part(all, 0, kRanks * kCount), is_compressed);
    }
    Values none;
    call(rank, {.operation = Operation::kBarrier}, {}, none, 0);
  });
}

// test_allgather_comms: the lower and the upper half each gather their own.
TEST_P(EngineExamples, AllGatherOfHalves) {
  on_ranks([](const Rank& rank) {
    const int own = rank.host.device();
    constexpr int kHalf = kRanks / 2;
    const int start = own < kHalf ? 0 : kHalf;
    std::vector<int> devices(kHalf);
    std::iota(devices.begin(), devices.end(), start);
    const int half = rank.accl.communicator(devices);
    Values from(kCount);
    std::iota(from.begin(), from.end(), static_cast<float>(own));
    Values result(kHalf * kCount);
    call(rank, {.operation = Operation::kAllGather, .communicator = half}, from, result, kCount);
    for (std::size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(result[i], static_cast<float>(static_cast<std::size_t>(start) + i / kCount + i % kCount));
    }
  });
}

// test_multicomm: ranks 0, 2 and 3 send each other in pairs, then add up.
TEST_P(EngineExamples, ACommunicatorOfSome) {
  on_ranks([](const Rank& rank) {
    if (rank.host.device() == 1) return;
    const int some = rank.accl.communicator({0, 2, 3});
    const int own = rank.accl.rank(some);
    Values from = numbers(kCount);
    int tag = 0;
    for (const auto& [one, other] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2)}) {
      Values to(kCount);
      if (own == one) {
        expect_done(rank.accl.send(view(from), other, tag, some));
        expect_done(rank.accl.recv(view(to), other, tag + 1, some));
        EXPECT_EQ(to, from);
      } else if (own == other) {
        expect_done(rank.accl.recv(view(to), one, tag, some));
        expect_done(rank.accl.send(view(from), one, tag + 1, some));
        EXPECT_EQ(to, from);
      }
      tag += 2;
    }
    std::iota(from.begin(), from.end(), 0.0F);
    Values sums(kCount);
    call(rank, {.operation = Operation::kAllReduce, .communicator = some}, from, sums, kCount);
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(sums[i], 3 * from[i]);
  });
}

// test_vadd_put of test/host/hls/test.cpp: each rank has the numbers of the one before, and 1.
TEST_P(EngineExamples, VaddPut) {
  for (const std::size_t count : {kCount, std::size_t{1}, std::size_t{1000}}) {
    on_ranks([&](const Rank& rank) {
      struct Streams {
        stream<fm::accl_request> commands{"commands"};
        stream<Status> statuses{"statuses"};
        stream<fm::accl_data> out{"out"};
        stream<fm::accl_data> in{"in"};
      };
      const auto streams = std::make_shared<Streams>();
      rank.accl.keep(streams);
      rank.accl.connect_logic(streams->commands, streams->statuses);
      rank.accl.connect_from_kernel(vadd_source, streams->out);
      rank.accl.connect_to_kernel(vadd_target, streams->in);
      Values from(count);
      std::iota(from.begin(), from.end(),
                static_cast<float>(count * static_cast<std::size_t>(rank.host.device())));
      Values to(count);
      unsigned int status = ~0U;
      auto end = rank.host.start("vadd_put", {}, vadd_put, from.data(), to.data(), static_cast<int>(count),
                                 next(rank), rank.accl.use(Type::kFloat32), streams->commands,
                                 streams->statuses, streams->out, streams->in, &status);
      end.wait();
      EXPECT_EQ(status, 0U);
      Values expected(count);
      std::iota(expected.begin(), expected.end(),
                static_cast<float>(count * static_cast<std::size_t>(before(rank)) + 1));
      EXPECT_EQ(to, expected);
    });
  }
}

// test_loopback_local_res: a put from a stream into one of its own.
TEST_P(EngineExamples, APutToItself) {
  on_ranks([](const Rank& rank) {
    const Looped looped(rank);
    const auto own = static_cast<float>(rank.host.device());
    Values from(kCount, own);
    Values to(kCount, -1.0F);
    looped.loop(kCount);
    expect_done(rank.accl.copy_to_stream(view(from), kStream));  // the loop brings it to the engine
    looped.loop(kCount);
    expect_done(rank.accl.start({.kind = Kind::kStreamPut,
                                 .peer = rank.host.device(),
                                 .count = kCount,
                                 .a = {{}, kStream},
                                 .remote_stream = kStream}));
    expect_done(rank.accl.copy_from_stream(kStream, view(to)));
    EXPECT_EQ(to, from);
  });
}

}  // namespace
}  // namespace fabricmark::accl
