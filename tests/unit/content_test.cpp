// What b_eff sends. What holds exactly: a message that differs from another in one thing only differs from it
// in every byte, unless sender, direction, repetition or place differ by a multiple of 251, the number of
// first bytes. Of messages that differ in several things at once, about one in 251 is alike.
#include "benchmarks/b_eff/content.hpp"

#include <array>
#include <set>
#include <vector>

#include "support.hpp"

namespace fabricmark::b_eff {

namespace {

constexpr std::uint32_t kFirstBytes = 251;
constexpr Content kPlain{3, 1, 7, 20, 64};

std::size_t wrong_bytes(const Content& sent, const Content& expected, std::size_t bytes = 64) {
  std::vector<std::byte> message(bytes);
  fill(message, sent);
  std::size_t wrong = 0;
  const std::size_t first = compare(message, expected, wrong);
  EXPECT_EQ(first, wrong == 0 ? bytes : 0U) << "the first byte shows it already";
  return wrong;
}

TEST(Content, IsComparedByteByByte) {
  std::vector<std::byte> message(1000);
  fill(message, kPlain);
  std::size_t wrong = 0;
  EXPECT_EQ(compare(message, kPlain, wrong), 1000U);
  EXPECT_EQ(wrong, 0U);
  message[17] ^= std::byte{1};
  message[999] ^= std::byte{0x80};
  EXPECT_EQ(compare(message, kPlain, wrong), 17U);
  EXPECT_EQ(wrong, 2U);
  compare(message, kPlain, wrong);
  EXPECT_EQ(wrong, 4U) << "numbers of several messages add up";
  EXPECT_EQ(compare({}, kPlain, wrong), 0U);
}

TEST(Content, NeverStartsWithPoison) {
  std::set<std::uint8_t> seen;
  for (std::uint32_t sender = 0; sender < 32; ++sender) {
    for (std::uint32_t place = 0; place < 500; ++place) {
      for (std::uint32_t power = 0; power <= 28; ++power) {
        seen.insert(Content{sender, place % 2, place * 3, place, 1U << power}.first());
      }
    }
  }
  EXPECT_EQ(seen.size(), kFirstBytes) << "all first bytes occur";
  EXPECT_LT(*seen.rbegin(), std::to_integer<std::uint8_t>(kPoison));
}

TEST(Content, DiffersInEveryByteWithOneThingThatDiffers) {
  for (std::uint32_t other = 1; other < kFirstBytes; ++other) {
    Content sender = kPlain;
    sender.sender += other;
    Content repetition = kPlain;
    repetition.repetition += other;
    Content place = kPlain;
    place.place += other;
    for (const Content& sent : {sender, repetition, place}) {
      ASSERT_EQ(wrong_bytes(sent, kPlain), 64U) << other;
    }
  }
  Content direction = kPlain;
  direction.direction = 0;
  EXPECT_EQ(wrong_bytes(direction, kPlain), 64U);
}

TEST(Content, DiffersInEveryByteBetweenTheSizesOfB_eff) {
  std::set<std::uint8_t> first;
  for (std::uint32_t power = 0; power <= 28; ++power) {
    Content content = kPlain;
    content.bytes = 1U << power;
    EXPECT_TRUE(first.insert(content.first()).second) << "2^" << power;
  }
}

TEST(Content, ComesBackAfter251) {
  Content sender = kPlain;
  sender.sender += kFirstBytes;
  Content repetition = kPlain;
  repetition.repetition += kFirstBytes;
  Content place = kPlain;
  place.place += kFirstBytes;
  for (const Content& sent : {sender, repetition, place}) EXPECT_EQ(wrong_bytes(sent, kPlain), 0U);
}

TEST(Content, IsAlikeByChanceForOneMessageIn251WhereSeveralThingsDiffer) {
  std::size_t alike = 0;
  std::size_t compared = 0;
  for (std::uint32_t sender = 0; sender < 50; ++sender) {
    for (std::uint32_t place = 0; place < 200; ++place) {
      if (sender == kPlain.sender || place == kPlain.place) continue;
      Content content = kPlain;
      content.sender = sender;
      content.place = place;
      alike += content.first() == kPlain.first() ? 1 : 0;
      ++compared;
    }
  }
  EXPECT_NEAR(static_cast<double>(alike) / static_cast<double>(compared), 1.0 / kFirstBytes, 0.001);
}

TEST(Content, OfNeighboursInTheRingOfTheNextSizesAndRepetitionsIsNotAlike) {
  // What a transport could mix up: both directions, the place before and after, the repetition before.
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    const Content own{rank, 0, 1, 10, 1024};
    for (const Content& other : std::vector<Content>{{rank, 1, 1, 10, 1024},
                                                     {rank, 1, 1, 9, 1024},
                                                     {rank, 0, 1, 9, 1024},
                                                     {rank, 0, 0, 10, 1024},
                                                     {rank, 0, 0, 9, 1024},
                                                     {rank + 1, 0, 1, 10, 1024},
                                                     {rank + 1, 1, 1, 10, 1024},
                                                     {rank + 2, 0, 1, 10, 1024},
                                                     {rank, 0, 1, 10, 512},
                                                     {rank, 1, 1, 10, 512}}) {
      EXPECT_NE(own.first(), other.first());
    }
  }
}

TEST(Content, HasNoTwoChunksAlike) {
  constexpr std::size_t kMessage = std::size_t{1} << 20;  // the largest of b_eff's rules
  for (std::size_t chunk = 4096; chunk < kMessage; chunk *= 2) {
    std::set<std::uint8_t> starts;
    for (std::size_t start = 0; start < kMessage; start += chunk) starts.insert(kPlain.at(start));
    EXPECT_EQ(starts.size(), kMessage / chunk) << "chunks of " << chunk << " bytes";
  }
  // Longer messages, in the chunks that are the default.
  std::set<std::uint8_t> starts;
  for (std::size_t start = 0; start < std::size_t{1} << 24; start += 262144) starts.insert(kPlain.at(start));
  EXPECT_EQ(starts.size(), 64U);
}

}  // namespace

}  // namespace fabricmark::b_eff
