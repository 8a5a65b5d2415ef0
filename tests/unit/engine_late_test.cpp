// What comes to a rank, or a kernel asks of it, that nobody waits for, or that cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine_doer.hpp"
#include "engine_support.hpp"

namespace fabricmark::accl {
namespace {

using network::Protocol;

constexpr std::size_t kLong = 1 << 18;

/// Over RDMA all messages longer than nothing wait for their receiver.
Devices rendezvous(int ranks) {
  Devices all;
  all.ranks = ranks;
  all.network = network_of(Protocol::kRdma);
  all.engine.eager_bytes = 0;
  return all;
}

// The data of a grant is in flight when its receive times out: the memory is its owner's again.
TEST(EngineLate, DataForAReceiveThatHasTimedOut) {
  for (const bool is_collective : {false, true}) {
    run(rendezvous(4), [&](const Rank& rank) {
      const int own = rank.host.device();
      std::vector<float> values(kLong, static_cast<float>(own + 1));
      std::vector<float> all(own == 0 ? 4 * kLong : 0, -1.0F);
      collectives::Call gather{.operation = collectives::Operation::kGather, .count = kLong};
      gather.own = view(values);
      gather.result = view(all);
      Result result;
      if (own == 0) rank.accl.set_timeout(5e-6);  // the data of one takes 84 us
      if (is_collective) {
        result = rank.accl.collective(gather, 0, "flat").wait();
      } else if (own == 0) {
        result = rank.accl.recv(view(all).part(0, kLong), 1).wait();
      } else if (own == 1) {
        result = rank.accl.send(view(values), 0).wait();
      }
      if (own == 0) {
        EXPECT_EQ(result.code, Code::kTimeOut) << result.text;
        std::ranges::fill(all, -2.0F);
      }
      rank.host.finish();
      EXPECT_EQ(std::ranges::count(all, -2.0F), static_cast<std::ptrdiff_t>(all.size()));
      if (is_collective || own < 2) {
        EXPECT_THROW(rank.accl.finish(), Error);
      }
    });
  }
}

// Two ranks fail at once and both tell the others, who hear of it twice.
TEST(EngineLate, TwoAbortsOfOneCommunicator) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    Devices all;
    all.ranks = 4;
    all.network = network_of(protocol);
    run(all, [&](const Rank& rank) {
      const int own = rank.host.device();
      std::vector<float> values(10);
      const Result first =
          own < 2 ? rank.accl.send(view(values), 9).wait() : rank.accl.recv(view(values), 0).wait();
      EXPECT_FALSE(first.is_done());
      EXPECT_NE(first.text.find("ranks 0 to 3"), std::string::npos) << first.text;
      // All that is called from then on ends with the same cause, at once.
      const Result then = rank.accl.recv(view(values), own == 3 ? 2 : 3).wait();
      EXPECT_FALSE(then.is_done());
      EXPECT_LT(then.ended - then.started, 1e-3);
      EXPECT_THROW(rank.accl.finish(), Error);
    });
  }
}

// A sender gives up before its receiver comes: the receiver hears of it.
TEST(EngineLate, AReceiverThatComesWhenItsSenderHasGivenUp) {
  run(rendezvous(2), [](const Rank& rank) {
    std::vector<float> values(kLong);
    rank.accl.set_timeout(50e-6);
    if (rank.host.device() == 0) {
      EXPECT_EQ(rank.accl.send(view(values), 1).wait().code, Code::kTimeOut);
    } else {
      rank.host.pass_until(network::from_seconds(1e-3));
      EXPECT_EQ(rank.accl.recv(view(values), 0).wait().code, Code::kPeerFailed);
    }
    EXPECT_THROW(rank.accl.finish(), Error);
  });
}

// What goes wrong in another communicator than that of all is told at the end, too.
TEST(EngineLate, TheEndTellsOfEveryCommunicator) {
  run({.ranks = 3}, [](const Rank& rank) {
    const int own = rank.host.device();
    if (own < 2) {
      const int both = rank.accl.communicator({0, 1});
      std::vector<float> values(7);
      collectives::Call call{.operation = collectives::Operation::kBroadcast, .root = own, .count = 7};
      call.own = call.result = view(values);
      rank.accl.collective(call, both).wait();
      EXPECT_THROW(rank.accl.finish(), Error);
    } else {
      rank.accl.finish();
    }
  });
}

// Receive buffers of messages that nobody will receive any more are free again for other communicators.
TEST(EngineLate, AFailedCommunicatorKeepsNoReceiveBuffers) {
  Devices all;
  all.engine.rx_buffers = 2;
  run(all, [](const Rank& rank) {
    const int own = rank.host.device();
    const int failing = rank.accl.communicator({0, 1});
    std::vector<float> values(8, static_cast<float>(own));
    for (int i = 0; own == 0 && i < 2; ++i) rank.accl.send(view(values), 1, i, failing).wait();
    rank.meet();
    if (own == 0) rank.accl.send(view(values), 7, 0, failing).wait();
    rank.meet();
    rank.host.pass_until(rank.host.now() + network::from_seconds(1e-3));
    const Result result =
        own == 0 ? rank.accl.send(view(values), 1).wait() : rank.accl.recv(view(values), 0).wait();
    EXPECT_EQ(result.text, "");
    EXPECT_EQ(values.front(), 0.0F);
    rank.host.finish();
  });
}

struct Word {
  float value[16];
};

void take_words(dataflow::stream<Word>& in, int words, float* sum) {
  for (int i = 0; i < words; ++i) *sum += in.read().value[0];
}

// UDP loses words of a stream: the kernel that waits for them ends the run, which says why.
TEST(EngineLate, WordsOfAStreamThatWereLost) {
  Devices all;
  all.network = network_of(Protocol::kUdp);
  all.network.faults = {.seed = 1, .drop = 0.2};
  std::string told[2];
  run(all, [&](const Rank& rank) {
    constexpr int kWords = 1000;
    const auto words = std::make_shared<dataflow::stream<Word>>("words");
    rank.accl.keep(words);
    std::vector<float> values(16 * kWords, 1.0F);
    float sum = 0;
    try {
      if (rank.host.device() == 0) {
        EXPECT_EQ(rank.accl.stream_put(view(values), 1, 3).wait().text, "");
      } else {
        rank.accl.connect_to_kernel(3, *words);
        rank.host.start("take_words", {}, take_words, *words, kWords, &sum);
      }
      rank.accl.finish();
    } catch (const Error& error) {
      told[rank.host.device()] = error.what();
    }
  });
  EXPECT_NE(told[1].find("lost"), std::string::npos) << told[0] << "\n" << told[1];
}

TEST(EngineLate, OperandsThatDoNotFitAreRefused) {
  run({.ranks = 2}, [](const Rank& rank) {
    std::vector<float> few(3);
    std::vector<float> many(5);
    std::vector<double> wide(5);
    const View doubles{reinterpret_cast<std::byte*>(wide.data()), 5, Type::kFloat64};
    const int alone = rank.accl.communicator({rank.host.device()});
    const auto refused = [&](Call call) {
      call.communicator = alone;
      const Result result = rank.accl.start(call).wait();
      EXPECT_EQ(result.code, Code::kUnknownMemory) << call.text() << ": " << result.text;
    };
    refused({.kind = Kind::kCopy, .count = 5, .a = {view(many)}, .result = {view(few)}});
    refused({.kind = Kind::kCopy, .count = 5, .a = {view(many)}, .result = {doubles}});
    refused({.kind = Kind::kCopy, .count = 5, .a = {view(many)}});
    refused(
        {.kind = Kind::kCombine, .count = 5, .a = {view(many)}, .b = {view(few)}, .result = {view(many)}});
    refused({.kind = Kind::kSend, .count = 4, .a = {view(few)}});
    Call reduce{.kind = Kind::kCollective, .count = 5, .type = Type::kFloat32};
    reduce.collective = {.operation = collectives::Operation::kAllReduce, .count = 5};
    reduce.collective.own = reduce.collective.result = doubles;
    refused(reduce);
    rank.host.finish();
  });
}

// A kernel may write any numbers into its command: it is told, and so are the others.
TEST(EngineLate, CommandsThatCannotBeAreRefused) {
  for (int number = 0; number < 6; ++number) {
    run({.ranks = 2}, [&](const Rank& rank) {
      const fm::accl_use use = rank.accl.use(Type::kFloat32);
      Command bad[6];
      for (Command& one : bad) one = fm::accl_nop(use);
      bad[0].function = 99;
      bad[1].datapath = ~0U;
      bad[2].reduction = 3;
      bad[3].function = fm::accl_all_to_all + 1;
      bad[4].communicator = 7;
      bad[5] = fm::accl_send(use, fm::accl_memory(5), 1, 1, 0);
      const Command& command = bad[number];
      struct Streams {
        dataflow::stream<fm::accl_request> commands{"commands"};
        dataflow::stream<Status> statuses{"statuses"};
      };
      const auto streams = std::make_shared<Streams>();
      rank.accl.keep(streams);
      rank.accl.connect_logic(streams->commands, streams->statuses);
      std::vector<float> values(1);
      if (rank.host.device() == 0) {
        unsigned int status = 0;
        auto end = rank.host.start("issue", {}, covering::issue, streams->commands, streams->statuses,
                                   command, &status);
        end.wait();
        EXPECT_NE(status, 0U);
      } else if (command.communicator == use.communicator) {
        EXPECT_EQ(rank.accl.recv(view(values), 0).wait().code, Code::kPeerFailed);
      }
      rank.host.finish();
    });
  }
}

}  // namespace
}  // namespace fabricmark::accl
