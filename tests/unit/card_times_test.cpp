// Modelled time of the emulated card's streams and cables: that of the emulated boards, word for word.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "card/streams.hpp"
#include "dataflow_support.hpp"
#include "support.hpp"

namespace fabricmark::card {
namespace {

using Word = std::array<std::byte, 64>;
using test::mentions;
using test::message_of;

constexpr int kWords = 200;

struct Case {
  double kernel_hz;
  double latency_seconds;
  double link_hz;
  std::uint64_t width_bytes;
};

network::NetworkCosts network_of(const Case& one) {
  network::NetworkCosts network;
  network.latency_seconds = one.latency_seconds;
  network.width_bytes = one.width_bytes;
  network.clock_hz = one.link_hz;
  return network;
}

/// Three kernels as those of docs/examples/two_devices, on emulated boards.
Time on_boards(const Case& one) {
  const auto fabric = std::make_shared<dataflow::Fabric>(dataflow::FabricSettings{
      .devices = 2,
      .topology = network::pair(),
      .link = {one.latency_seconds, one.link_hz, static_cast<double>(one.width_bytes), {}},
      .stack_bytes = 1 << 16});
  const dataflow::DeviceCost device{one.kernel_hz, 0, 0};
  dataflow::Host sender(fabric, 0, device), receiver(fabric, 1, device);
  auto out = sender.open<Word>(0);
  auto in = receiver.open<Word>(0);
  dataflow::stream<Word, 4> loaded("loaded");
  Time last = 0;
  sender.start("load", {}, [&] {
    for (int i = 0; i < kWords; ++i) loaded.write({});
  });
  sender.start("send", {}, [&] {
    for (int i = 0; i < kWords; ++i) out.out.write(loaded.read());
  });
  receiver.start("receive", {}, [&] {
    for (int i = 0; i < kWords; ++i) in.in.read();
    last = dataflow::kernel_here()->clock;
  });
  dataflow::finish(sender, receiver);
  return last;
}

/// The same on two emulated cards, whose kernels are threads.
Time on_cards(const Case& one) {
  const test::TemporaryFolder folder;
  const CableTimes times(network_of(one));
  const Time cycle = network::period(one.kernel_hz);
  UnitClock load{0, cycle}, send{0, cycle}, receive{0, cycle};
  Fifo loaded(4, cycle);
  Cable near_end(folder.path() / "cable", /*listens=*/true, "link_0", times),
      far_end(folder.path() / "cable", /*listens=*/false, "link_0", times);
  End first("load.loaded", loaded, true, load), second("send.loaded", loaded, false, send),
      third("send.link", near_end, true, send), fourth("receive.link", far_end, false, receive);
  const auto repeat = [](auto call) {
    return std::jthread([call] {
      Word word{};
      for (int i = 0; i < kWords; ++i) call(word);
    });
  };
  {
    const auto loads = repeat([&](Word& word) { first.write(word.data(), word.size(), true); });
    const auto sends = repeat([&](Word& word) {
      second.read(word.data(), word.size(), true);
      third.write(word.data(), word.size(), true);
    });
    const auto receives = repeat([&](Word& word) { fourth.read(word.data(), word.size(), true); });
  }
  return receive.now;
}

TEST(CardTimes, AgreeWithThoseOfTheEmulatedBoards) {
  for (const Case& one : {Case{300e6, 599e-9, 156.25e6, 32}, Case{300e6, 20e-6, 156.25e6, 32},
                          Case{300e6, 599e-9, 1.2e9, 64}, Case{90e6, 599e-9, 156.25e6, 64}}) {
    const Time expected = on_boards(one);
    EXPECT_GT(expected, network::from_seconds(one.latency_seconds));
    EXPECT_EQ(on_cards(one), expected) << one.kernel_hz << " " << one.link_hz;
  }
}

TEST(CardTimes, WithoutASystemNothingIsModelled) {
  ASSERT_EQ(unsetenv("FABRICMARK_CARD_SYSTEM"), 0);
  EXPECT_EQ(modelling_of_environment(), nullptr);
  EXPECT_EQ(CableTimes().of_word(64), 0);
  EXPECT_EQ(CableTimes().latency(), 0);
}

TEST(CardTimes, ATimeBeyondTheClockEndsTheKernel) {
  Fifo fifo(2);
  UnitClock writer{network::kEndOfTime - 10, 1000}, reader;
  End in("a.out", fifo, true, writer), out("b.in", fifo, false, reader);
  int word = 0;
  EXPECT_TRUE(mentions(message_of([&] { in.write(&word, sizeof(word), true); }), "a.out: "));
}

}  // namespace
}  // namespace fabricmark::card
