// Streams of the emulated card: between kernels, and over cables between cards; protocols that start kernels.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "card/kernels.hpp"
#include "support.hpp"

namespace fabricmark::card {
namespace {

/// The words of the error that `call` throws; empty where it throws none.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr std::uint64_t kChain = 65536, kConsumer = 131072, kSender = 196608, kReceiver = 262144;
constexpr std::uint64_t kSum = 4096;
constexpr std::chrono::seconds kLongest{20};

void wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <typename T>
void put(std::string& map, std::size_t offset, T value) {
  std::memcpy(map.data() + offset, &value, sizeof(value));
}

std::string of_producer(std::uint32_t count) {
  std::string map(20, '\0');
  put(map, 0, std::uint32_t{1});
  put(map, 16, count);
  return map;
}

std::string of_consumer(std::uint32_t count) {
  std::string map(32, '\0');
  put(map, 0, std::uint32_t{1});
  put(map, 16, kSum);
  put(map, 28, count);
  return map;
}

using Folder = test::TemporaryFolder;

/// The other end of a cable.
FileDescriptor connected_to(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::ranges::copy(path, std::begin(address.sun_path));
  FileDescriptor other(socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(connect(other.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return other;
}

/// One card with the kernels of card_stream_kernels.cpp.
class Card {
 public:
  Card(const Folder& folder, int number, WordFault fault = WordFault::kNone)
      : bitstream_(CARD_STREAM_KERNELS, /*meet=*/false, {folder.path(), number}, fault) {
    memory_.allocate(kSum, sizeof(std::uint64_t), false);
  }
  [[nodiscard]] ComputeUnit& unit(std::uint64_t base) const { return bitstream_.unit_at(base); }
  void write(std::uint64_t base, const std::string& map) {
    unit(base).write(0, map, bitstream_.design(), memory_);
  }
  [[nodiscard]] std::uint32_t control(std::uint64_t base) const {
    std::uint32_t word = 0;
    std::memcpy(&word, unit(base).read(0, 4).data(), sizeof(word));
    return word;
  }
  void wait(std::uint64_t base) const {
    wait_until([&] { return (control(base) & ComputeUnit::kDone) != 0; });
  }
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    std::memcpy(&sum, memory_.at(kSum, sizeof(sum)), sizeof(sum));
    return sum;
  }
  [[nodiscard]] const Bitstream& bitstream() const { return bitstream_; }

 private:
  Memory memory_{Sharing::kPrivate, "."};
  Bitstream bitstream_;
};

TEST(CardStreams, JoinKernelsOfOneCard) {
  const Folder folder;
  Card card(folder, 0);
  card.write(kConsumer, of_consumer(100));
  card.write(kChain, of_producer(100));
  card.wait(kConsumer);
  EXPECT_EQ(card.sum(), 2 * 99U * 100 / 2);  // by the kernel between them, which nobody starts
}

TEST(CardStreams, AFaultOfAWordChangesTheResult) {
  const Folder folder;
  Card flipped(folder, 0, WordFault::kFlipped);
  flipped.write(kConsumer, of_consumer(10));
  flipped.write(kChain, of_producer(10));
  flipped.wait(kConsumer);
  EXPECT_NE(flipped.sum(), 90U);
}

TEST(CardStreams, WhoWaitsForAWordIsNamed) {
  const Folder folder;
  Card card(folder, 0, WordFault::kLost);
  card.write(kConsumer, of_consumer(10));
  card.write(kChain, of_producer(10));
  card.wait(kChain);
  wait_until([&] {
    return card.bitstream().running_for(0) == "consume_1, which waits for a word of its stream consume_1.in,";
  });
  // Which ends, as the bitstream does.
}

TEST(CardStreams, WhoWaitsForRoomIsNamed) {
  const Folder folder;
  Card card(folder, 0);
  card.write(kChain, of_producer(100));
  wait_until([&] {
    return card.bitstream().running_for(0) == "produce_1, which waits for room in its stream produce_1.out,";
  });
}

TEST(CardStreams, ACableJoinsTwoCards) {
  const Folder folder;
  Card first(folder, 0), second(folder, 1);
  constexpr std::uint32_t kWords = 100000;  // more than the cable holds
  second.write(kReceiver, of_consumer(kWords));
  first.write(kSender, of_producer(kWords));
  first.wait(kSender);
  second.wait(kReceiver);
  EXPECT_EQ(second.sum(), std::uint64_t{kWords} * (kWords - 1) / 2);
  // And the other way round.
  second.write(kSender, of_producer(10));
  first.write(kReceiver, of_consumer(10));
  first.wait(kReceiver);
  EXPECT_EQ(first.sum(), 45U);
}

TEST(CardStreams, ACardThatHasGoneIsNamed) {
  const Folder folder;
  Card first(folder, 0);
  {
    Card second(folder, 1);
    second.write(kSender, of_producer(1));
    first.write(kReceiver, of_consumer(2));
    second.wait(kSender);
  }
  wait_until([&] { return !first.bitstream().failure().empty(); });
  EXPECT_EQ(first.bitstream().failure(),
            "the kernel of consume_2 cannot go on: consume_2.in: the other card at the cable of link_0 has "
            "gone; see what its host says, and let hosts wait for their kernels");
}

/// Cards are closed one after the other.
TEST(CardStreams, ACardThatHasGoneIsNoFailureOfAKernelThatRunsByItself) {
  const Folder folder;
  Card first(folder, 0);
  connected_to(folder.path() / "fabricmark-0-link_1");  // and gone again
  first.write(kConsumer, of_consumer(1));
  wait_until([&] { return first.bitstream().running_for(0).find("has gone") != std::string::npos; });
  EXPECT_EQ(
      first.bitstream().running_for(0),
      "consume_1, which waits for a word of its stream consume_1.in, (twice_2.in: the other card at the "
      "cable of link_1 has gone)");
  EXPECT_EQ(first.bitstream().failure(), "");
}

TEST(CardStreams, AChainTakesAStartBeforeTheEndAndKeepsItsEnd) {
  const Folder folder;
  Card card(folder, 0);
  const auto told = [&](std::uint32_t bit) { return (card.control(kChain) & bit) != 0; };
  card.write(kChain, of_producer(20));  // the streams hold seven at most
  wait_until([&] { return !told(ComputeUnit::kStart); });
  card.write(kChain, of_producer(5));
  EXPECT_TRUE(told(ComputeUnit::kStart));
  EXPECT_NE(error_of([&] { card.write(kChain, of_producer(1)); }).find("another start waits"),
            std::string::npos);
  card.write(kConsumer, of_consumer(25));
  wait_until([&] { return told(ComputeUnit::kDone); });
  card.wait(kConsumer);
  EXPECT_EQ(card.sum(), 2 * (190U + 10));
  EXPECT_FALSE(told(ComputeUnit::kIdle));  // the second end waits for the host to have seen the first
  std::string go_on(4, '\0');
  put(go_on, 0, std::uint32_t{ComputeUnit::kContinue});
  card.write(kChain, go_on);
  wait_until([&] { return told(ComputeUnit::kIdle); });
  EXPECT_TRUE(told(ComputeUnit::kDone));
}

TEST(CardStreams, EndsAreOfOneDirectionAndOneLength) {
  Fifo fifo(2);
  UnitClock clock;
  End in("a.out", fifo, /*writes=*/true, clock), out("b.in", fifo, /*writes=*/false, clock);
  std::uint32_t word = 7;
  std::uint64_t longer = 0;
  EXPECT_FALSE(out.read(&word, sizeof(word), false));
  EXPECT_TRUE(in.write(&word, sizeof(word), false));
  EXPECT_TRUE(in.write(&word, sizeof(word), false));
  EXPECT_FALSE(in.write(&word, sizeof(word), false));
  EXPECT_FALSE(in.is_ready(sizeof(word)));
  EXPECT_TRUE(out.is_ready(sizeof(word)));
  EXPECT_EQ(error_of([&] { out.read(&longer, sizeof(longer), false); }),
            "b.in: words of 4 bytes are read as words of 8 bytes; give both ends of a stream words of one "
            "type");
  EXPECT_NE(error_of([&] {
              in.read(&word, sizeof(word), false);
            }).find("a.out: it is read, and the link configuration has it write"),
            std::string::npos);
  EXPECT_NE(error_of([&] { out.write(&word, sizeof(word), false); }).find("has it read"), std::string::npos);
}

/// Whatever another process writes: under the address sanitizer above all.
TEST(CardStreams, AnyBytesOverACableAreReadOrRefused) {
  const Folder folder;
  std::mt19937_64 random(20261130);  // NOLINT(bugprone-random-generator-seed): the same each time
  const std::string path = folder.path() / "cable";
  constexpr int kCables = 300;
  for (int i = 0; i < kCables; ++i) {
    Cable cable(path, /*listens=*/true, "link_0");
    FileDescriptor other = connected_to(path);
    std::string bytes(random() % 32, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 2 == 0 && bytes.size() >= 4) put(bytes, 0, std::uint32_t{4});  // of words of the right length
    ASSERT_EQ(write(other.number(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    other = FileDescriptor();
    std::uint32_t word = 0;
    std::size_t words = 0;
    const std::string error = error_of([&] {
      while (cable.read(std::as_writable_bytes(std::span(&word, 1)), /*wanted=*/0, /*waits=*/true)) ++words;
    });
    EXPECT_NE(error.find(words > 0 || bytes.size() < 4 ? "has gone" : ";"), std::string::npos) << error;
  }
}

TEST(CardStreams, RefusesStreamsByName) {
  const auto design = [](const std::string& control, const std::string& streams,
                         const std::string& kind = "axis") {
    const std::string argument = R"({"name": "s", "kind": ")" + kind + R"(", "offset": 16, "bytes": 8})";
    std::string text =
        R"({"version": 1, "platform": "p", "memories": [], "streams": [)" + streams + R"(], "units": [)";
    for (const char* name : {"k_1", "k_2"}) {
      text += text.back() == '}' ? "," : "";
      text += R"({"kernel": "k", "name": ")" + std::string(name) + R"(", "base": 0, "control": ")" + control +
              R"(", "arguments": [)" + argument + "]}";
    }
    return error_of([&] { read_design(text + "]}"); });
  };
  const std::string good = R"({"from": "k_1.s", "to": "k_2.s", "depth": 2})";
  const auto finds = [](const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  EXPECT_EQ(design("ap_ctrl_hs", good), "");
  EXPECT_EQ(design("ap_ctrl_none", good), "");
  EXPECT_EQ(design("ap_ctrl_chain", good), "");
  finds(design("ap_ctrl_none", good, "scalar"), "k_1 has ap_ctrl_none, and arguments that are no streams");
  finds(design("ap_ctrl_hs", ""), "k_1.s is joined to nothing");
  finds(design("ap_ctrl_hs", good + "," + good), "k_1.s is joined twice");
  finds(design("ap_ctrl_hs", R"({"from": "k_1.s", "to": "k_3.s", "depth": 2})"),
        "a stream leads to k_3.s, which is no stream");
  finds(design("ap_ctrl_hs", R"({"from": "link_0.tx", "to": "k_2.s", "depth": 2})"),
        "a stream leads from link_0.tx");
  finds(design("ap_ctrl_hs", good + R"(,{"from": "link_0.rx", "to": "link_1.tx", "depth": 2})"),
        "link_0.rx is joined to link_1.tx");
  EXPECT_NE(error_of([] {
              const Bitstream without(CARD_STREAM_KERNELS, false);
            }).find("the card does not know its number"),
            std::string::npos);
}

}  // namespace
}  // namespace fabricmark::card
