#include "network/flow_control.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/error.hpp"
#include "network/cycle_link.hpp"

namespace fabricmark::network {
namespace {

FlowSettings xon_xoff(std::size_t high, std::size_t low, std::size_t headroom) {
  return {.kind = FlowSettings::Kind::kXonXoff, .high = high, .low = low, .headroom = headroom};
}

FlowSettings credits(std::size_t count) { return {.credits = count}; }

/// The word that fills the buffer to `high` arrives in cycle high - 1 + forward. The sender hears of it
/// `back` cycles later, when words number high to high + forward + back - 2 have left already.
TEST(FlowControl, XonXoffLosesWhatItsHeadroomDoesNotHold) {
  for (const auto& [forward, back] : {std::pair{1, 1}, {5, 5}, {20, 7}, {83, 83}}) {
    for (int headroom = 0; headroom <= forward + back; ++headroom) {
      CycleLink link(make_flow_control(xon_xoff(16, 4, static_cast<std::size_t>(headroom))), forward, back);
      for (int cycle = 0; cycle < 1000; ++cycle) link.step(true, false);
      EXPECT_EQ(link.flow().overruns(),
                static_cast<std::uint64_t>(std::max(0, forward + back - 1 - headroom)))
          << forward << " " << back << " " << headroom;
    }
  }
}

TEST(FlowControl, WithoutControlAllBeyondThePlacesIsLost) {
  CycleLink link(make_flow_control({.kind = FlowSettings::Kind::kNone, .places = 10}), 3, 3);
  for (int cycle = 0; cycle < 100 + 3; ++cycle) link.step(cycle < 100, false);
  EXPECT_EQ(link.flow().overruns(), 90U);
  EXPECT_EQ(link.flow().fill(), 10U);
}

TEST(FlowControl, CreditsLoseNothing) {
  std::mt19937 draw(1);
  const auto number = [&draw](int from, int to) { return std::uniform_int_distribution(from, to)(draw); };
  for (int run = 0; run < 10000; ++run) {
    const auto forward = number(1, 12);
    CycleLink link(make_flow_control(credits(static_cast<std::size_t>(number(1, 24)))), forward,
                   number(1, 12));
    const int valid_percent = number(10, 100);
    const int take_percent = number(0, 100);
    int left = 0;
    int taken = 0;
    for (int cycle = 0; cycle < 100; ++cycle) {
      const auto step = link.step(number(1, 100) <= valid_percent, number(1, 100) <= take_percent);
      left += step.leaves ? 1 : 0;
      taken += step.taken ? 1 : 0;
    }
    for (int cycle = 0; cycle < 60; ++cycle) taken += link.step(false, true).taken ? 1 : 0;
    ASSERT_EQ(taken, left) << "run " << run;
    ASSERT_EQ(link.flow().overruns(), 0U);
  }
}

/// The check above can fail: a receiver with fewer places than credits.
class TooFewPlaces final : public FlowControl {
 public:
  TooFewPlaces() : FlowControl(3) {}
  bool step_sender(const Feedback& feedback, bool valid) override {
    credits_ += feedback.credits;
    const bool leaves = valid && credits_ > 0;
    if (leaves) --credits_;
    return leaves;
  }

 protected:
  Feedback feedback(std::size_t /*fill*/, std::int32_t taken) override { return {taken, false, false}; }

 private:
  int credits_ = 5;
};

TEST(FlowControl, MoreCreditsThanPlacesLose) {
  CycleLink link(std::make_unique<TooFewPlaces>(), 2, 2);
  for (int cycle = 0; cycle < 20; ++cycle) link.step(true, false);
  EXPECT_EQ(link.flow().overruns(), 2U);
}

TEST(FlowControl, CreditsBelowTheRoundTripLimitTheRate) {
  for (int count = 1; count <= 40; ++count) {
    CycleLink link(make_flow_control(credits(static_cast<std::size_t>(count))), 10, 10);
    int taken = 0;
    for (int cycle = 0; cycle < 20000; ++cycle) taken += link.step(true, true).taken ? 1 : 0;
    EXPECT_NEAR(taken / 20000.0, std::min(1.0, count / 20.0), 0.01) << count;
  }
}

TEST(FlowControl, ReadsItsSettings) {
  EXPECT_EQ(flow_settings("credit").credits, 0U);
  EXPECT_EQ(flow_settings("credit:7").credits, 7U);
  EXPECT_EQ(flow_settings("none:3").places, 3U);
  const FlowSettings marks = flow_settings("xon-xoff:8,2,5");
  EXPECT_EQ(marks.high, 8U);
  EXPECT_EQ(marks.low, 2U);
  EXPECT_EQ(marks.headroom, 5U);
  EXPECT_EQ(flow_settings("credit-link").credit_link.packet, 0U);
  const FlowSettings::OfCreditLink link = flow_settings("credit-link:16,128,8").credit_link;
  EXPECT_EQ(link.packet, 16U);
  EXPECT_EQ(link.receive, 128U);
  EXPECT_EQ(link.update, 8U);
  EXPECT_EQ(link.timeout, 0U);
  EXPECT_EQ(flow_settings("credit-link:16,128,8,40").credit_link.timeout, 40U);
  for (const char* const wrong :
       {"", "credits", "credit:", "credit:0", "credit:-1", "credit:1x", "none", "none:", "xon-xoff",
        "xon-xoff:1", "xon-xoff:8,2", "xon-xoff:8,2,5,1", "xon-xoff:8 2 5", "credit-link:", "credit-link:1,2",
        "credit-link:1,2,0", "credit-link:1,2,3,4,5", "credit-links", "credit:99999999999999999999"}) {
    EXPECT_THROW(flow_settings(wrong), Error) << wrong;
  }
  EXPECT_THROW(make_flow_control(xon_xoff(4, 4, 1)), Error);
  EXPECT_THROW(make_flow_control(credits(0)), Error);
  EXPECT_THROW(make_flow_control(flow_settings("credit-link")), Error);
}

TEST(FlowControl, NoTextBreaksTheReader) {
  std::mt19937 draw(2);
  const std::string letters = "credit:none,xof-0123456789 \t\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const auto length = std::uniform_int_distribution<std::size_t>(0, 14)(draw);
    for (std::size_t k = 0; k < length; ++k) {
      text += letters[std::uniform_int_distribution<std::size_t>(0, letters.size() - 1)(draw)];
    }
    try {
      flow_settings(text);
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace fabricmark::network
