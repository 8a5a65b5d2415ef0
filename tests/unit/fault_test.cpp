#include "runtime/fault.hpp"

#include <limits>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

TEST(Fault, IsReadWithTargetAndRank) {
  const Fault plain = parse_fault("element");
  EXPECT_EQ(plain.kind, Fault::Kind::kElement);
  EXPECT_TRUE(plain.target.empty());
  EXPECT_FALSE(plain.rank.has_value());
  EXPECT_EQ(parse_fault("scale:b").target, "b");
  const Fault both = parse_fault("zeros:c@3");
  EXPECT_EQ(both.kind, Fault::Kind::kZeros);
  EXPECT_EQ(both.target, "c");
  EXPECT_EQ(both.rank, 3);
  EXPECT_EQ(parse_fault("stale@0").rank, 0);
  EXPECT_FALSE(both.repetition.has_value());
  const Fault once = parse_fault("lost@1#0");
  EXPECT_EQ(once.rank, 1);
  EXPECT_EQ(once.repetition, 0);
  EXPECT_EQ(parse_fault("element:b#12").repetition, 12);
  EXPECT_EQ(parse_fault("element:b#12").target, "b");
  EXPECT_EQ(parse_fault("blank").kind, Fault::Kind::kBlank);
  EXPECT_EQ(parse_fault("half@2").kind, Fault::Kind::kHalf);
}

TEST(Fault, RefusesWhatItDoesNotKnowAndListsTheKinds) {
  for (const char* text :
       {"", "x", "Element", ":a", "@1", "element@", "element@-1", "element@x", "element@1x", "element:a@1@2",
        "element@99999999999", "element a", "element#", "element#-1", "element#1@1", "element#x"}) {
    const std::string message = message_of([&] { parse_fault(text); });
    EXPECT_TRUE(
        mentions(message, "element, scale, zeros, stale, lost, late, blank, half, swapped, flipped or dead"))
        << message;
  }
}

TEST(Fault, OfARankNamesAStepAndTheRank) {
  const Fault fault = parse_fault("hang:timed@2");
  EXPECT_TRUE(is_failing_rank(fault));
  EXPECT_EQ(fault.target, "timed");
  EXPECT_FALSE(is_failing_rank(parse_fault("element")));
  for (const char* text : {"throw", "throw@1", "throw:timed", "hang:never@1", "stop:timed@1#0"}) {
    EXPECT_TRUE(mentions(message_of([&] { parse_fault(text); }), "KIND:STEP@RANK")) << text;
  }
}

TEST(Fault, OfARankIsMadeInItsStepOnItsRank) {
  const std::optional<Fault> fault = parse_fault("throw:result@1");
  fail_in_step(fault, "result", 0);
  fail_in_step(fault, "timed", 1);
  fail_in_step(std::nullopt, "result", 1);
  EXPECT_TRUE(
      mentions(message_of([&] { fail_in_step(fault, "result", 1); }, ExitCode::kEnvironment), "result"));
}

class Corrupt : public testing::Test {
 protected:
  std::vector<float> changed(Fault::Kind kind) {
    std::vector<float> values{1, 2, 3, 4, 5};
    const std::vector<float> stale{9, 8, 7, 6, 5};
    corrupt<float>(values, stale, kind, std::numeric_limits<float>::epsilon());
    return values;
  }
};

TEST_F(Corrupt, ChangesOneElementByAHundredEpsilons) {
  const std::vector<float> values = changed(Fault::Kind::kElement);
  EXPECT_NEAR(values[2] / 3.0F - 1, 100 * std::numeric_limits<float>::epsilon(), 1e-6);
  EXPECT_NE(values[2], 3.0F);
  EXPECT_EQ(values[1], 2.0F);
}

TEST_F(Corrupt, ChangesAllElements) {
  EXPECT_EQ(changed(Fault::Kind::kScale), (std::vector<float>{1.5, 3, 4.5, 6, 7.5}));
  EXPECT_EQ(changed(Fault::Kind::kZeros), (std::vector<float>{0, 0, 0, 0, 0}));
  EXPECT_EQ(changed(Fault::Kind::kStale), (std::vector<float>{9, 8, 7, 6, 5}));
  EXPECT_EQ(changed(Fault::Kind::kSwapped), (std::vector<float>{4, 5, 3, 1, 2}));
}

TEST_F(Corrupt, RefusesFaultsOfMessages) {
  for (const Fault::Kind kind :
       {Fault::Kind::kLost, Fault::Kind::kLate, Fault::Kind::kBlank, Fault::Kind::kHalf}) {
    EXPECT_TRUE(mentions(message_of([&] { changed(kind); }), "no messages"));
  }
}

}  // namespace

}  // namespace fabricmark::runtime
