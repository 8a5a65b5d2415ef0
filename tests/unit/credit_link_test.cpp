#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>

#include "base/error.hpp"
#include "credit_link_points.hpp"
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

/// Two ends and a watch, as the reference points want them.
class Watched {
 public:
  explicit Watched(const points::Scenario& scenario)
      : link_(parameters(scenario), scenario.latency), watch_(link_) {
    while (!link_.is_up()) step({});
    for (std::size_t i = 0; i < 4 * scenario.latency; ++i) step({});  // the last SYNC flits are gone
  }
  std::array<points::Deeds, 2> step(const std::array<points::Wishes, 2>& wishes) {
    std::array<LinkEnd::Input, 2> inputs;
    std::array<points::Deeds, 2> deeds;
    for (std::size_t i = 0; i < 2; ++i) {
      inputs[i].source_valid = wishes[i].offers;
      inputs[i].source_last = wishes[i].is_last;
      inputs[i].source_word = wishes[i].word;
      inputs[i].sink_ready = wishes[i].takes;
      const Flit* const received = link_.wire(1 - i).out();
      deeds[i].received = received != nullptr && !received->first;
    }
    const DuplexCycleLink::Cycle cycle = link_.step(inputs[0], inputs[1]);
    watch_.look(inputs[0], inputs[1], cycle);
    for (std::size_t i = 0; i < 2; ++i) {
      const LinkEnd::Output& output = cycle.ends[i];
      deeds[i].accepted = wishes[i].offers && output.source_ready;
      deeds[i].delivered = wishes[i].takes && output.sink_valid;
      deeds[i].is_credit_only =
          output.sent != nullptr && output.sent->is_header && output.sent->header.credit_only;
      deeds[i].word = output.sink_word;
    }
    return deeds;
  }
  [[nodiscard]] const std::string& violation() const { return watch_.violation(); }

 private:
  static LinkParameters parameters(const points::Scenario& scenario) {
    LinkParameters parameters = link_of(scenario.packet, scenario.receive);
    parameters.counts_credit_by_flit = scenario.by_flit;
    return parameters;
  }
  DuplexCycleLink link_;
  LinkWatch watch_;
};

TEST(CreditLink, ReferencePointsAreMet) {
  for (const points::Point& point : points::reference_points()) {
    Watched link(point.scenario);
    const points::Figures figures = points::Play(link, point.scenario).figures();
    EXPECT_NEAR(point.figure(figures), point.value, point.tolerance) << point.name;
    EXPECT_EQ(link.violation().empty(), !point.scenario.by_flit) << point.name << link.violation();
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

TEST(CreditLink, ASinkThatStopsLosesNothing) {
  std::uint32_t least = 512;
  std::uint32_t most = 0;
  for (std::uint64_t phase = 0; phase < 33; ++phase) {  // of the packet that is in flight
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
