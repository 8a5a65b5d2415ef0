#include "transport/host/own_messages.hpp"

#include <gtest/gtest.h>

namespace fabricmark::transport {
namespace {

/// Of rank 3, between two memories of 100 bytes.
class OwnMessagesOfARank : public testing::Test {
 protected:
  [[nodiscard]] Message out(std::size_t offset, std::size_t bytes, int tag, int peer = 3) {
    return {{&from_, offset, bytes}, peer, tag};
  }
  [[nodiscard]] Message in(std::size_t offset, std::size_t bytes, int tag, int peer = 3) {
    return {{&to_, offset, bytes}, peer, tag};
  }
  /// Whether these are copied.
  bool copies(const std::vector<Message>& sends, const std::vector<Message>& receives) {
    return !messages_.split(sends, receives).sends.empty();
  }

  Memory from_{100}, to_{100};
  OwnMessages messages_{3};
};

TEST_F(OwnMessagesOfARank, AreToldFromThoseOfOthers) {
  const std::vector<Message> sends{out(0, 5, 7, 0), out(5, 9, 7), out(20, 4, 8)};
  const std::vector<Message> receives{in(0, 4, 8), in(10, 9, 7), in(30, 6, 7, 1)};
  const OwnMessages::Split split = messages_.split(sends, receives);
  ASSERT_EQ(split.sends.size(), 2U);
  ASSERT_EQ(split.other_sends.size(), 1U);
  ASSERT_EQ(split.other_receives.size(), 1U);
  EXPECT_EQ(split.other_sends[0].peer, 0);
  EXPECT_EQ(split.other_receives[0].peer, 1);
  const auto pairs = message_pairs(split.sends, split.receives);
  ASSERT_EQ(pairs.size(), 2U);
  for (const auto& [send, receive] : pairs) {
    EXPECT_EQ(send->tag, receive->tag);
    EXPECT_EQ(send->bytes, receive->bytes);
  }
}

TEST_F(OwnMessagesOfARank, OfOneTagKeepTheirOrder) {
  const std::vector<Message> sends{out(0, 5, 7), out(5, 5, 7)};
  const std::vector<Message> receives{in(50, 5, 7), in(0, 5, 7)};
  const auto pairs = message_pairs(sends, receives);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].second->offset, 50U);
  EXPECT_EQ(pairs[1].second->offset, 0U);
}

TEST_F(OwnMessagesOfARank, GoTheOtherWayWhereTheyHaveNoCounterpart) {
  EXPECT_TRUE(copies({out(0, 5, 7)}, {in(0, 5, 7)}));
  EXPECT_FALSE(copies({out(0, 5, 1)}, {in(0, 5, 2)}));
  EXPECT_FALSE(copies({out(0, 5, 7)}, {in(0, 6, 7)}));
}

TEST_F(OwnMessagesOfARank, DoNotOvertakeOneThatHasNotArrived) {
  EXPECT_FALSE(copies({out(0, 5, 7)}, {}));
  EXPECT_FALSE(copies({out(5, 5, 7)}, {in(0, 5, 7)}));
  EXPECT_TRUE(copies({out(5, 5, 8)}, {in(0, 5, 8)}));
  EXPECT_FALSE(copies({}, {in(10, 5, 7)}));
  EXPECT_TRUE(copies({out(5, 5, 7)}, {in(0, 5, 7)}));
}

TEST_F(OwnMessagesOfARank, ThatOverlapGoTheOtherWay) {
  const Message left{{&from_, 0, 10}, 3, 1};
  const Message middle{{&from_, 9, 10}, 3, 1};
  const Message right{{&from_, 10, 10}, 3, 1};
  EXPECT_FALSE(copies({left}, {middle}));
  EXPECT_FALSE(copies({left}, {left}));
  EXPECT_TRUE(copies({left}, {right}));
}

}  // namespace
}  // namespace fabricmark::transport
