#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>

#include "credit_link_support.hpp"

namespace fabricmark::credit_link {
namespace {

/// FABRICMARK_CREDIT_LINK_RUNS random links instead of a few hundred: those of `make test-rtl-full`.
std::uint64_t runs() {
  const char* const asked = std::getenv("FABRICMARK_CREDIT_LINK_RUNS");
  return asked == nullptr ? 300 : std::strtoull(asked, nullptr, 10);
}

constexpr std::uint64_t kWords = 400;

std::uint64_t longest_pause(const RandomLink& link) {
  return 20 * link.latency + 10 * link.parameters.keepalive + 64 * link.parameters.sync_interval + 3000;
}

/// What a watch says of a whole run, and of its end.
std::string outcome(const RandomLink& random, bool is_whole) {
  LinkRun run(random.parameters, random.latency, random.users[0], random.users[1], random.disturbances[0],
              random.disturbances[1]);
  run.finish(longest_pause(random));
  run.watch().look_at_rest();
  for (std::size_t i = 0; i < 2 && run.watch().violation().empty(); ++i) {
    const std::uint64_t sent = run.words_in(1 - i);
    if (sent != random.users[1 - i].words) return "not all words were sent";
    if (is_whole && run.delivered(i) != sent) return "not all words were delivered";
    const Counters& counters = run.link().end(i).counters();
    const bool is_counted = run.delivered(i) + counters.lost_flits == sent;
    if (run.link().end(i).counters().epochs + run.link().end(1 - i).counters().epochs == 0 && !is_counted)
      return "lost words were not counted";
  }
  return run.watch().violation();
}

TEST(CreditLinkRandom, NothingIsLostOrSwappedAndNothingHangs) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed)
    ASSERT_EQ(outcome(random_link(seed, 0, 0, kWords), true), "") << "seed " << seed;
}

TEST(CreditLinkRandom, FramesThatAreLostCostNoCredit) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed) {
    const RandomLink random = random_link(seed, 0.05, 0, kWords);
    ASSERT_EQ(outcome(random, false), "") << "seed " << seed;
  }
}

TEST(CreditLinkRandom, WrongBitsCostNoCredit) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed)
    ASSERT_EQ(outcome(random_link(seed, 0, 0.01, kWords), false), "") << "seed " << seed;
}

/// How many of the first hundred random links show a fault.
int found(LinkFault fault, double frame_loss) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomLink random = random_link(seed, frame_loss, 0, kWords);
    random.parameters.fault = fault;
    if (!outcome(random, frame_loss == 0).empty()) ++count;
  }
  return count;
}

TEST(CreditLinkRandom, TheWatchFindsPlantedFaults) {
  for (const LinkFault fault : {LinkFault::kCreditOneTooMany, LinkFault::kFreedTwice, LinkFault::kTailDropped,
                                LinkFault::kNoCreditOnlyHeader, LinkFault::kSentStandsStill})
    EXPECT_GT(found(fault, 0), 10) << static_cast<int>(fault);
  EXPECT_GT(found(LinkFault::kGapNotFreed, 0.05), 10);
}

/// A last header that is lost leaves the sender without credits that nothing would bring back.
TEST(CreditLinkRandom, WithoutKeepAliveALostFrameCanHangTheLink) {
  int hangs = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomLink random = random_link(seed, 0.05, 0, kWords);
    random.parameters.keepalive = 0;
    if (!outcome(random, false).empty()) ++hangs;
  }
  EXPECT_GT(hangs, 0);
}

// Epochs.

TEST(CreditLinkEpochs, ALinkThatFallsComesUpAgainAndKeepsItsOrder) {
  LinkParameters parameters;
  parameters.keepalive = 200;
  DuplexCycleLink link(parameters, 30);
  LinkWatch watch(link);
  std::uint64_t words = 0;
  for (std::uint64_t cycle = 0; cycle < 20000; ++cycle) {
    LinkEnd::Input first;
    LinkEnd::Input second;
    first.source_valid = cycle < 15000;
    first.source_word = words;
    first.link_up = cycle % 3000 < 2900;
    second.sink_ready = cycle % 5 != 0;
    const auto step = link.step(first, second);
    if (first.source_valid && step.ends[0].source_ready) ++words;
    watch.look(first, second, step);
  }
  // Words of packets that were in flight are lost, which the epochs tell.
  EXPECT_EQ(watch.violation().find("again"), std::string::npos) << watch.violation();
  EXPECT_GE(link.end(0).counters().epochs, 6U);
  EXPECT_GE(link.end(1).counters().epochs, 6U);
  EXPECT_EQ(link.end(1).counters().overflows, 0U);
  EXPECT_TRUE(link.is_agreed());
  EXPECT_GT(watch.delivered(1), words / 2);
  EXPECT_EQ(link.end(0).waiting() + link.end(1).fill(), 0U);
}

/// What lies in the buffer at the start of an epoch was not sent in it, but its places are credits when it is
/// taken.
TEST(CreditLinkEpochs, ABufferThatIsFullWhenTheLinkFallsIsOfUseAgain) {
  for (const unsigned receive : {63U, 64U, 100U, 512U}) {
    LinkParameters parameters;
    parameters.receive_flits = receive;
    parameters.keepalive = 400;
    DuplexCycleLink link(parameters, 30);
    LinkWatch watch(link);
    std::uint64_t words = 0;
    for (std::uint64_t cycle = 0; cycle < 20000; ++cycle) {
      LinkEnd::Input first;
      LinkEnd::Input second;
      first.source_valid = cycle < 15000;
      first.source_word = words;
      first.link_up = cycle < 3000 || cycle >= 3100;
      second.sink_ready = cycle < 500 || cycle >= 5000;
      const auto step = link.step(first, second);
      if (first.source_valid && step.ends[0].source_ready) ++words;
      watch.look(first, second, step);
    }
    watch.look_at_rest();
    EXPECT_EQ(watch.violation(), "") << receive;
    EXPECT_GT(words, 3000U) << receive;
    EXPECT_EQ(watch.delivered(1), words) << receive;
  }
}

/// What a watch says of a random link that falls again and again while its sinks stand, as long as words
/// come.
std::string outcome_of_falls(std::uint64_t seed, LinkFault fault) {
  RandomLink random = random_link(seed, 0, 0, 2000);
  LinkParameters& parameters = random.parameters;
  parameters.fault = fault;
  if (seed % 2 == 0) parameters.receive_flits = parameters.packet_flits + parameters.credit_flits - 1;
  for (LinkRun::User& user : random.users)
    user.takes = [takes = user.takes](std::uint64_t cycle) { return cycle % 3000 < 1500 && takes(cycle); };
  random.users[0].link_up = [](std::uint64_t cycle) { return cycle >= 30000 || cycle % 3000 < 2900; };
  LinkRun run(random.parameters, random.latency, random.users[0], random.users[1]);
  run.finish(longest_pause(random) + 3000);
  while (run.link().now() % 3000 != 2500) run.step();  // not while it is down
  run.watch().look_at_rest();
  return run.watch().violation();
}

TEST(CreditLinkEpochs, AfterEachFallSomethingIsDelivered) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed)
    ASSERT_EQ(outcome_of_falls(seed, LinkFault::kNone), "") << "seed " << seed;
}

TEST(CreditLinkEpochs, TheWatchFindsALinkThatStandsAfterAFall) {
  const auto count = [](LinkFault fault, const char* violation) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed)
      if (outcome_of_falls(seed, fault).find(violation) != std::string::npos) ++found;
    return found;
  };
  EXPECT_GT(count(LinkFault::kOldPlacesForgotten, "a closed packet waits for ever"), 10);
  EXPECT_GT(count(LinkFault::kNoAcknowledgement, "the ends do not come together"), 100);
}

TEST(CreditLinkEpochs, ManyBadHeadersBeginOne) {
  LinkEnd end({});
  Flit sync;
  sync.is_header = sync.first = true;
  sync.header.type = Header::Type::kSync;
  sync.header.ack = true;
  sync.header.freed = 512;
  end.step({}, &sync);
  EXPECT_TRUE(end.is_up());
  Flit bad;
  bad.first = true;
  for (int i = 0; i < 15; ++i) end.step({}, &bad);
  for (int i = 0; i < 4096; ++i) end.step({});
  for (int i = 0; i < 15; ++i) end.step({}, &bad);
  EXPECT_TRUE(end.is_up());
  end.step({}, &bad);
  EXPECT_FALSE(end.is_up());
  EXPECT_EQ(end.epoch(), 1);
}

TEST(CreditLinkEpochs, AnEndWithoutAPeerGoesDown) {
  LinkParameters parameters;
  parameters.sync_timeout = 100;
  LinkEnd end(parameters);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(end.state(), LinkEnd::State::kSync);
    end.step({});
  }
  EXPECT_EQ(end.state(), LinkEnd::State::kDown);
  end.step({});
  EXPECT_EQ(end.step({}).sent, nullptr);
}

// Quiet cycles.

/// Two links with the same inputs, one of which leaves out what it may.
TEST(CreditLinkQuiet, CyclesThatAreLeftOutChangeNothing) {
  std::uint64_t left_out = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomLink random = random_link(seed, 0, 0, 50);
    LinkEnd stepped(random.parameters);
    LinkEnd jumping(random.parameters);
    std::mt19937_64 draw(seed);
    for (int event = 0; event < 200; ++event) {
      LinkEnd::Input input;
      input.source_valid = draw() % 4 == 0;
      input.source_word = draw() % 1000;
      input.sink_ready = draw() % 2 == 0;
      Flit flit;
      flit.is_header = flit.first = flit.last = true;
      flit.header.type = event < 3 ? Header::Type::kSync : Header::Type::kPacket;
      flit.header.ack = true;
      flit.header.freed = event < 3 ? 100 : 0;
      const Flit* const received = event == 2 || draw() % 16 == 0 ? &flit : nullptr;
      const LinkEnd::Output a = stepped.step(input, received);
      const LinkEnd::Output b = jumping.step(input, received);
      ASSERT_EQ(a.sent == nullptr, b.sent == nullptr);
      if (a.sent != nullptr) {
        ASSERT_EQ(a.sent->is_header, b.sent->is_header);
        ASSERT_TRUE(a.sent->is_header ? a.sent->header == b.sent->header : a.sent->word == b.sent->word);
      }
      std::uint64_t cycles = draw() % 300;
      const std::uint64_t quiet = std::min(jumping.quiet_cycles(), cycles);
      jumping.leave_out(quiet);
      left_out += quiet;
      for (std::uint64_t i = 0; i < quiet; ++i) ASSERT_EQ(stepped.step({}).sent, nullptr) << seed;
      ASSERT_EQ(stepped.counters(), jumping.counters()) << seed;
      ASSERT_EQ(stepped.quiet_cycles(), jumping.quiet_cycles()) << seed;
    }
  }
  EXPECT_GT(left_out, 10000U);
}

}  // namespace
}  // namespace fabricmark::credit_link
