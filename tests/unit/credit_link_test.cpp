#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>

#include "base/error.hpp"
#include "credit_link_support.hpp"
#include "network/credit_link/header.hpp"

namespace fabricmark::credit_link {
namespace {

LinkParameters link_of(unsigned packet, unsigned receive) {
  LinkParameters parameters;
  parameters.packet_flits = packet;
  parameters.receive_flits = receive;
  return parameters;
}

LinkRun::User sends(std::uint64_t words) {
  LinkRun::User user;
  user.words = words;
  return user;
}

/// End 0 sends at full speed, end 1 takes every word.
std::unique_ptr<LinkRun> full_speed(unsigned packet, unsigned receive, std::size_t latency,
                                    std::uint64_t words = 100000) {
  auto run = std::make_unique<LinkRun>(link_of(packet, receive), latency, sends(words), LinkRun::User{});
  run->start();
  run->finish(4 * latency + 4 * packet + 200);
  return run;
}

// Reference points.

TEST(CreditLink, FullPacketsCostOneHeader) {
  for (const auto& [packet, rate] :
       {std::pair{4U, 0.8000}, {8U, 0.8889}, {16U, 0.9412}, {32U, 0.9697}, {64U, 0.9846}, {128U, 0.9923}}) {
    const auto run = full_speed(packet, 2048, 82);
    EXPECT_NEAR(run->rate(1), rate, 5e-5) << packet;
    EXPECT_EQ(run->watch().violation(), "");
  }
}

TEST(CreditLink, TheReceiveBufferLimitsTheRate) {
  struct Point {
    unsigned receive;
    std::size_t latency;
    double rate;
  };
  for (const Point& point : std::initializer_list<Point>{{63, 82, 0.1594},
                                                         {96, 82, 0.4780},
                                                         {128, 82, 0.6372},
                                                         {160, 82, 0.7972},
                                                         {192, 82, 0.9553},
                                                         {224, 82, 0.9697},
                                                         {512, 204, 0.9697},
                                                         {1024, 456, 0.9697},
                                                         {320, 200, 0.7337}}) {
    const auto run = full_speed(32, point.receive, point.latency);
    EXPECT_NEAR(run->rate(1), point.rate, 0.003 * point.rate) << point.receive << " " << point.latency;
    EXPECT_EQ(run->watch().violation(), "");
  }
}

TEST(CreditLink, TheLawOfTheRateHolds) {
  for (unsigned receive = 63; receive <= 400; receive += 17) {
    for (const std::size_t latency : {20U, 82U, 150U}) {
      constexpr unsigned kPacket = 32;
      const double loop = 2.0 * static_cast<double>(latency) + kPacket + 5;
      const double law = std::min(kPacket / (kPacket + 1.0), kPacket * (receive / kPacket) / loop);
      const auto run = full_speed(kPacket, receive, latency, 20000);
      EXPECT_NEAR(run->rate(1), law, 0.02 * law) << receive << " " << latency;
    }
  }
}

TEST(CreditLink, TheFirstWordWaitsForItsPacket) {
  for (const auto& [packet, cycles] :
       {std::pair{4U, 89U}, {8U, 93U}, {16U, 101U}, {32U, 117U}, {64U, 149U}, {128U, 213U}}) {
    EXPECT_EQ(full_speed(packet, 2048, 82, 1000)->first_latency(), cycles) << packet;
  }
}

TEST(CreditLink, ASingleWordWaitsForTheTimeOutUnlessItIsTheLast) {
  for (const std::size_t latency : {1U, 10U, 82U}) {
    EXPECT_EQ(full_speed(32, 512, latency, 1)->first_latency(), 64 + latency + 4);
    LinkRun::User user = sends(1);
    user.is_last = [](std::uint64_t) { return true; };
    LinkRun run(link_of(32, 512), latency, user, {});
    run.start();
    run.finish(1000);
    EXPECT_EQ(run.first_latency(), latency + 4);
  }
}

TEST(CreditLink, BothDirectionsAreAsFastAsOne) {
  LinkRun run(link_of(32, 512), 82, sends(100000), sends(100000));
  run.start();
  run.finish(1000);
  EXPECT_NEAR(run.rate(0), 0.9697, 5e-5);
  EXPECT_NEAR(run.rate(1), 0.9697, 5e-5);
  EXPECT_EQ(run.watch().violation(), "");
}

TEST(CreditLink, ASinkOfEveryOtherCycleHalvesTheRate) {
  LinkRun::User slow;
  slow.takes = [](std::uint64_t cycle) { return cycle % 2 == 0; };
  LinkRun run(link_of(32, 512), 82, sends(20000), slow);
  run.start();
  run.finish(1000);
  EXPECT_NEAR(run.rate(1), 0.5, 1e-3);
  EXPECT_NEAR(run.link().end(1).counters().most_received, 413, 0.01 * 413);
  EXPECT_EQ(run.watch().violation(), "");
}

TEST(CreditLink, ASinkThatStopsLosesNothing) {
  std::uint32_t least = 512;
  std::uint32_t most = 0;
  for (std::uint64_t phase = 0; phase < 33; ++phase) {  // of the packet that is under way
    LinkRun::User stops;
    stops.takes = [phase](std::uint64_t cycle) { return cycle < 3000 + phase || cycle >= 7000; };
    LinkRun run(link_of(32, 512), 82, sends(20000), stops);
    run.start();
    run.finish(5000);
    EXPECT_EQ(run.delivered(1), 20000U);
    run.watch().look_at_rest();
    EXPECT_EQ(run.watch().violation(), "");
    least = std::min(least, run.link().end(1).counters().most_received);
    most = std::max(most, run.link().end(1).counters().most_received);
  }
  // Where in a packet the sink stops decides how much of the last credits are used.
  EXPECT_LE(most, 512U);
  EXPECT_LE(least, 509U);
  EXPECT_GE(most, 509U);
}

/// Cycles from one header of end 1, which has no data, to the next.
double cycles_between_credits(bool every_other_cycle) {
  LinkRun::User user;
  if (every_other_cycle) user.takes = [](std::uint64_t cycle) { return cycle % 2 == 0; };
  LinkRun run(link_of(128, 2048), 128, sends(1000000), user);
  run.start();
  for (int i = 0; i < 10000; ++i) run.step();
  const std::uint64_t before = run.link().end(1).counters().credit_only;
  for (int i = 0; i < 129 * 200; ++i) run.step();
  return 129.0 * 200 / static_cast<double>(run.link().end(1).counters().credit_only - before);
}

TEST(CreditLink, CreditsComeBackEveryPacket) {
  const double fast = cycles_between_credits(false);
  EXPECT_NEAR(fast, 129, 0.01 * 129);
  EXPECT_NEAR(fast, 128, 0.01 * 128);  // as printed
  EXPECT_NEAR(cycles_between_credits(true) / fast, 2, 0.02);
}

// The thesis' rule.

/// Both send 20 words, then stream, and both sinks stop for 3000 cycles.
bool comes_to_its_end(bool by_flit) {
  LinkParameters parameters = link_of(32, 512);
  parameters.counts_credit_by_flit = by_flit;
  LinkRun::User user = sends(5000);
  user.takes = [](std::uint64_t cycle) { return cycle > 4000; };
  user.is_last = [](std::uint64_t word) { return word == 19 || word == 4999; };
  LinkRun run(parameters, 82, user, user);
  run.start();
  for (int i = 0; i < 100000; ++i) run.step();
  return run.delivered(0) == 5000 && run.delivered(1) == 5000;
}

TEST(CreditLink, CreditByTheFlitHangsAndByThePacketDoesNot) {
  EXPECT_FALSE(comes_to_its_end(true));
  EXPECT_TRUE(comes_to_its_end(false));
}

// Headers.

TEST(CreditLinkHeader, HasItsFieldsWhereTheyBelong) {
  Header header;
  header.first = header.credit_only = true;
  header.epoch = 0xAB;
  header.length = 0x1234;
  header.freed = 0x5678;
  header.sent = 0x9ABC;
  header.tail = 31;
  header.payload_crc = 0xDEADBEEF;
  const auto bytes = pack(header);
  const std::array<std::uint8_t, 14> expected{0x0C, 0xF1, 0xED, 0x5E, 0x16, 0xAB, 0x34,
                                              0x12, 0x78, 0x56, 0xBC, 0x9A, 0x1F, 0x00};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes.begin()));
  EXPECT_EQ(bytes[14] | bytes[15] << 8U, crc16(expected));
  EXPECT_EQ(bytes[16], 0xEF);
  EXPECT_EQ(bytes[19], 0xDE);
  EXPECT_EQ(unpack(bytes), header);
}

TEST(CreditLinkHeader, HasTheCheckSumsOfTheirStandards) {
  constexpr std::array<std::uint8_t, 9> kDigits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  EXPECT_EQ(crc16(kDigits), 0x29B1);
  EXPECT_EQ(crc32(0, kDigits), 0xCBF43926U);
  EXPECT_EQ(crc32(crc32(0, std::span(kDigits).first(4)), std::span(kDigits).last(5)), 0xCBF43926U);
}

TEST(CreditLinkHeader, AnyWrongBitsAreRefused) {
  Header header;
  header.length = 32;
  header.freed = 77;
  for (const auto type : {Header::Type::kSync, Header::Type::kPacket}) {
    header.type = type;
    const auto good = pack(header);
    for (std::size_t i = 0; i < 128; ++i) {
      for (std::size_t k = i; k < 128; ++k) {
        auto bytes = good;
        bytes[i / 8] ^= static_cast<std::uint8_t>(1U << i % 8);
        if (k != i) bytes[k / 8] ^= static_cast<std::uint8_t>(1U << k % 8);
        ASSERT_FALSE(unpack(std::span(bytes).first(16))) << i << " " << k;
      }
    }
  }
}

TEST(CreditLinkHeader, TypesThatAreNoneAreRefused) {
  for (const unsigned type : {0U, 3U}) {
    Header header;
    header.type = static_cast<Header::Type>(type);
    EXPECT_FALSE(unpack(pack(header)));
  }
}

// Parameters.

std::string refusal(LinkParameters parameters) {
  try {
    checked(parameters);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CreditLink, ParametersThatCannotWorkAreRefusedInOneLine) {
  EXPECT_EQ(refusal({}), "");
  LinkParameters parameters = link_of(32, 63);
  EXPECT_EQ(refusal(parameters), "");
  parameters.receive_flits = 62;
  EXPECT_EQ(
      refusal(parameters),
      "with a receive buffer of 62 flits both ends can wait for ever; give it 63 or more, D + D_CU - 1");
  const auto with = [](auto change) {
    LinkParameters changed;
    change(changed);
    return refusal(changed);
  };
  EXPECT_NE(with([](LinkParameters& p) { p.width_bits = 100; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.width_bits = 2048; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.packet_flits = 0; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.packet_flits = 40000; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.transmit_flits = 63; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.credit_flits = 33; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.receive_flits = 32768; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.timeout = 0; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.sync_interval = 0; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.resync_errors = 0; }), "");
  EXPECT_NE(with([](LinkParameters& p) { p.latency = 31; }).find("later than the link's latency of 31"),
            std::string::npos);
  EXPECT_EQ(with([](LinkParameters& p) { p.latency = 32; }), "");
}

}  // namespace
}  // namespace fabricmark::credit_link
