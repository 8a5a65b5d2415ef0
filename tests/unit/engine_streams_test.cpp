// Operands that are streams of kernels: they leave while they come in, and come out while they arrive.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "engine_support.hpp"

namespace fabricmark::accl {
namespace {

using dataflow::stream;
using network::Protocol;

using Words = stream<Word, 64>;

/// `pause` cycles before the word in the middle.
void make_late_words(Words& out, std::size_t count, int pause) {
  const std::vector<float> values = counting(count);
  for (std::size_t first = 0; first < count; first += 16) {
    if (first == count / 2) dataflow::spend_cycles(pause);
    Word word{};
    std::memcpy(word.value, values.data() + first, std::min<std::size_t>(16, count - first) * sizeof(float));
    out.write(word);
  }
}

void take_all_words(Words& in, std::size_t count, std::vector<float>* values) {
  while (values->size() < count) {
    const Word word = in.read();
    const std::size_t left = std::min<std::size_t>(16, count - values->size());
    values->insert(values->end(), std::begin(word.value), std::begin(word.value) + left);
  }
}

/// What one path of a message between two devices is.
struct MessageCase {
  Devices all{};
  std::size_t count = 0;
  bool is_from_stream = true;
  bool is_to_stream = true;
  int pause = 0;
  bool is_compressed = false;
};

struct Ended {
  std::vector<float> values{};
  double seconds = 0;  ///< from the calls, which both ranks make at the same time
  Result sent{};
  Result received{};
};

Ended sent(const MessageCase& one) {
  Ended ended;
  run(one.all, [&](const Rank& rank) {
    const auto words = std::make_shared<Words>("words");
    rank.accl.keep(words);
    std::vector<float> memory = rank.host.device() == 0 ? counting(one.count) : std::vector<float>(one.count);
    Call call{.count = one.count, .is_compressed = one.is_compressed};
    if (rank.host.device() == 0) {
      call.kind = Kind::kSend;
      call.peer = 1;
      call.a = {view(memory)};
      if (one.is_from_stream) {
        rank.accl.connect_from_kernel(0, *words);
        rank.host.start("make_late_words", {}, make_late_words, *words, one.count, one.pause);
        call.a = {{}, 0};
      }
      ended.sent = rank.accl.start(call).wait();
    } else {
      call.kind = Kind::kRecv;
      call.result = {view(memory)};
      std::optional<device::Event> taking;
      if (one.is_to_stream) {
        rank.accl.connect_to_kernel(0, *words);
        taking = rank.host.start("take_all_words", {}, take_all_words, *words, one.count, &ended.values);
        call.result = {{}, 0};
      }
      ended.received = rank.accl.start(call).wait();
      if (taking) taking->wait();
      if (!one.is_to_stream) ended.values = memory;
      ended.seconds = network::seconds(rank.host.now()) - kHostIssue;
    }
    rank.accl.finish();
  });
  return ended;
}

Devices over(Protocol protocol, std::size_t eager_bytes) {
  Devices all = devices(protocol);
  all.network.costs.mtu_bytes = 4096;
  if (eager_bytes > 0) all.engine.eager_bytes = eager_bytes;
  return all;
}

const std::vector<Devices>& transports() {
  static const std::vector<Devices> all{over(Protocol::kUdp, 0), over(Protocol::kTcp, 0),
                                        over(Protocol::kRdma, 0), over(Protocol::kRdma, 1024)};
  return all;
}

TEST(EngineStreams, MessagesBetweenStreamsAreAsFastAsTheWire) {
  constexpr std::size_t kCount = 1 << 18;  // 1 MiB: 84 us on the wire, 66 us in or out of a stream
  for (const Devices& all : transports()) {
    const Ended ended = sent({.all = all, .count = kCount});
    EXPECT_EQ(ended.sent.text + ended.received.text, "");
    EXPECT_EQ(ended.values, counting(kCount));
    const double wire = kCount * sizeof(float) / kRate;
    EXPECT_GT(ended.seconds, wire);
    // Headers, packets that are not quite full, and the one of the first and the last one.
    EXPECT_LT(ended.seconds, 1.06 * wire + 6e-6);
  }
}

TEST(EngineStreams, OneEndAloneOverlapsToo) {
  constexpr std::size_t kCount = 1 << 18;
  const double bytes = kCount * sizeof(float);
  const double stream = bytes / (64 * 250e6);
  for (const Devices& all : transports()) {
    MessageCase one{.all = all, .count = kCount, .is_to_stream = false};
    const Ended from = sent(one);
    EXPECT_EQ(from.values, counting(kCount));
    // Buffered messages are copied in the end; long ones over RDMA are not.
    EXPECT_LT(from.seconds, 1.06 * bytes / kRate + bytes / 14e9 + kCopyLatency + 6e-6);
    one.is_from_stream = false;
    one.is_to_stream = true;
    one.all.topology = "switch";  // neighbours without a switch hand over a message as a whole
    const Ended to = sent(one);
    EXPECT_EQ(to.values, counting(kCount));
    EXPECT_LT(to.seconds, 1.06 * bytes / kRate + 0.1 * stream + 10e-6);
  }
}

TEST(EngineStreams, OddSizesArrive) {
  for (const Devices& all : transports()) {
    for (const std::size_t count : {1UL, 15UL, 17UL, 1008UL, 1009UL, 5003UL}) {
      for (const bool is_compressed : {false, true}) {
        for (const bool is_to_stream : {false, true}) {
          const Ended ended = sent({.all = all,
                                    .count = std::min<std::size_t>(count, is_compressed ? 2000 : count),
                                    .is_to_stream = is_to_stream,
                                    .is_compressed = is_compressed});
          EXPECT_EQ(ended.sent.text + ended.received.text, "") << count;
          EXPECT_EQ(ended.values, counting(std::min<std::size_t>(count, is_compressed ? 2000 : count)))
              << count;
        }
      }
    }
  }
}

// A kernel that pauses holds up its own message only.
TEST(EngineStreams, AMessageWaitsForItsElements) {
  constexpr std::size_t kCount = 1 << 14;
  constexpr int kPause = 25000;  // cycles: 100 us
  for (const Devices& all : transports()) {
    const double without = sent({.all = all, .count = kCount}).seconds;
    const Ended with = sent({.all = all, .count = kCount, .pause = kPause});
    EXPECT_EQ(with.values, counting(kCount));
    EXPECT_NEAR(with.seconds - without, kPause / 250e6, 3e-6);
  }
}

TEST(EngineStreams, WhatIsLostIsZeroAndTheRestIsInItsPlace) {
  Devices all = over(Protocol::kUdp, 0);
  all.network.faults = {.seed = 5, .drop = 0.2};
  constexpr std::size_t kCount = 1 << 15;
  for (const bool is_from_stream : {true, false}) {
    const Ended ended = sent({.all = all, .count = kCount, .is_from_stream = is_from_stream});
    EXPECT_EQ(ended.received.code, Code::kPacketsLost);
    ASSERT_EQ(ended.values.size(), kCount);
    const std::vector<float> whole = counting(kCount);
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      if (ended.values[i] == 0) {
        ++zeros;
      } else {
        ASSERT_EQ(ended.values[i], whole[i]) << i;
      }
    }
    EXPECT_GT(zeros, 0U);
    EXPECT_LE(zeros * sizeof(float), ended.received.lost_bytes);
  }
}

// Nobody else's words come between those of a message.
TEST(EngineStreams, TwoMessagesIntoOneStreamStayWhole) {
  constexpr std::size_t kCount = 4096;
  std::vector<float> values;
  Devices all = devices(Protocol::kUdp, 3);
  all.topology = "switch";
  run(all, [&](const Rank& rank) {
    const auto words = std::make_shared<Words>("words");
    rank.accl.keep(words);
    if (rank.host.device() == 2) {
      rank.accl.connect_to_kernel(0, *words);
      const auto taking = rank.host.start("take_all_words", {}, take_all_words, *words, 2 * kCount, &values);
      std::vector<Request> requests;
      for (const int from : {0, 1}) {
        requests.push_back(
            rank.accl.start({.kind = Kind::kRecv, .peer = from, .count = kCount, .result = {{}, 0}}));
      }
      for (Request& request : requests) EXPECT_EQ(request.wait().text, "");
      taking.wait();
    } else {
      rank.accl.connect_from_kernel(0, *words);
      rank.host.start("make_late_words", {}, make_late_words, *words, kCount, 500 * rank.host.device());
      EXPECT_EQ(rank.accl.start({.kind = Kind::kSend, .peer = 2, .count = kCount, .a = {{}, 0}}).wait().text,
                "");
    }
    rank.accl.finish();
  });
  std::vector<float> twice = counting(kCount);
  const std::vector<float> once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(values, twice);
}

TEST(EngineStreams, APutWritesMemoryAsItsElementsCome) {
  constexpr std::size_t kCount = 20000;
  std::vector<float> memory(kCount + 3);
  run(over(Protocol::kRdma, 0), [&](const Rank& rank) {
    const auto words = std::make_shared<Words>("words");
    rank.accl.keep(words);
    std::uint64_t number = 0;
    if (rank.host.device() == 1) number = rank.accl.register_memory(view(memory));
    number = static_cast<std::uint64_t>(rank.ranks.all_reduce_max(static_cast<std::int64_t>(number)));
    if (rank.host.device() == 0) {
      rank.accl.connect_from_kernel(0, *words);
      rank.host.start("make_late_words", {}, make_late_words, *words, kCount, 0);
      const Call put{.kind = Kind::kPut,
                     .peer = 1,
                     .count = kCount,
                     .a = {{}, 0},
                     .remote_memory = number,
                     .remote_first = 3};
      EXPECT_EQ(rank.accl.start(put).wait().text, "");
    }
    rank.accl.finish();
  });
  EXPECT_EQ(std::vector<float>(memory.begin() + 3, memory.end()), counting(kCount));
  EXPECT_EQ(memory[2], 0);
}

}  // namespace
}  // namespace fabricmark::accl
