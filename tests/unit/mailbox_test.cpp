#include "runtime/mailbox.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

std::span<const std::byte> bytes_of(const int& value) { return std::as_bytes(std::span(&value, 1)); }
std::span<std::byte> bytes_of(int& value) { return std::as_writable_bytes(std::span(&value, 1)); }

/// What comes next from a sender with a tag, or -1 where nothing has.
int next(Mailbox& mailbox, int from, int tag) {
  int value = -1;
  Request wanted = mailbox.receive(from, bytes_of(value), tag);
  if (!mailbox.test(wanted)) mailbox.cancel(wanted);
  return value;
}

TEST(Mailbox, KeepsSendersAndTagsApartAndEachInOrder) {
  Mailbox mailbox;
  const std::array<int, 6> values{10, 11, 12, 13, 14, 15};
  std::array<Request, 6> sent{
      mailbox.send(1, bytes_of(values[0]), 0), mailbox.send(2, bytes_of(values[1]), 0),
      mailbox.send(1, bytes_of(values[2]), 7), mailbox.send(1, bytes_of(values[3]), 0),
      mailbox.send(2, bytes_of(values[4]), 7), mailbox.send(1, bytes_of(values[5]), 7)};
  EXPECT_EQ(next(mailbox, 3, 0), -1) << "nobody has sent that";
  EXPECT_EQ(next(mailbox, 2, 7), 14);
  EXPECT_EQ(next(mailbox, 1, 7), 12);
  EXPECT_EQ(next(mailbox, 1, 0), 10);
  EXPECT_EQ(next(mailbox, 1, 0), 13);
  EXPECT_EQ(next(mailbox, 1, 0), -1);
  EXPECT_FALSE(mailbox.test(sent[1])) << "not received yet";
  EXPECT_EQ(next(mailbox, 2, 0), 11);
  EXPECT_EQ(next(mailbox, 1, 7), 15);
  for (Request& request : sent) EXPECT_TRUE(mailbox.test(request));
}

// As between MPI's processes: else the pieces of a message could arrive in each other's place.
TEST(Mailbox, GivesAMessageToTheReceiveThatBeganFirst) {
  Mailbox mailbox;
  const std::array<int, 3> values{1, 2, 3};
  std::array<int, 3> got{};
  Request first = mailbox.receive(0, bytes_of(got[0]), 0);
  Request second = mailbox.receive(0, bytes_of(got[1]), 0);
  Request third = mailbox.receive(0, bytes_of(got[2]), 0);
  EXPECT_FALSE(mailbox.test(first));
  std::array<Request, 2> sent{mailbox.send(0, bytes_of(values[0]), 0),
                              mailbox.send(0, bytes_of(values[1]), 0)};
  EXPECT_FALSE(mailbox.test(third)) << "both are for those before it";
  EXPECT_TRUE(mailbox.test(second));
  EXPECT_TRUE(mailbox.test(first));
  for (Request& request : sent) EXPECT_TRUE(mailbox.test(request));
  mailbox.cancel(third);
  Request fourth = mailbox.receive(0, bytes_of(got[2]), 0);
  Request late = mailbox.send(0, bytes_of(values[2]), 0);
  EXPECT_TRUE(mailbox.test(fourth)) << "the cancelled one takes nothing";
  EXPECT_TRUE(mailbox.test(late));
  EXPECT_EQ(got, values);
}

TEST(Mailbox, SaysThatAMessageHasLeftWhenItWasReceived) {
  Mailbox mailbox;
  const int value = 5;
  Request sent = mailbox.send(0, bytes_of(value), 0);
  EXPECT_NE(sent.handle, 0U);
  EXPECT_FALSE(mailbox.test(sent));
  EXPECT_EQ(next(mailbox, 0, 0), 5);
  EXPECT_TRUE(mailbox.test(sent));
  EXPECT_EQ(sent.handle, 0U);
  EXPECT_TRUE(mailbox.test(sent)) << "done stays done";
}

TEST(Mailbox, CarriesMessagesOfNoBytes) {
  Mailbox mailbox;
  Request sent = mailbox.send(4, {}, 0);
  Request wanted = mailbox.receive(4, {}, 0);
  EXPECT_FALSE(mailbox.test(sent));
  EXPECT_TRUE(mailbox.test(wanted));
  EXPECT_TRUE(mailbox.test(sent));
}

TEST(Mailbox, RefusesAnotherLengthAndNamesTheSender) {
  for (const std::size_t length : {std::size_t{2}, std::size_t{8}, std::size_t{0}}) {
    Mailbox mailbox;
    const std::array<std::byte, 8> source{};
    std::array<std::byte, 6> destination{};
    destination.fill(std::byte{0xAA});
    Request sent = mailbox.send(3, std::span(source).first(length), 0);
    Request wanted = mailbox.receive(3, std::span(destination).first(4), 0);
    const std::string message = message_of([&] { mailbox.test(wanted); }, ExitCode::kEnvironment);
    EXPECT_TRUE(mentions(message, "rank 3 sent " + std::to_string(length) + " bytes where 4 were expected"))
        << message;
    EXPECT_EQ(wanted.handle, 0U);
    EXPECT_TRUE(mailbox.test(sent)) << "the sender has nothing to wait for";
    EXPECT_EQ(destination[4], std::byte{0xAA}) << "nothing is written behind the receiver's memory";
  }
}

TEST(Mailbox, ForgetsAMessageThatItsSenderGaveUp) {
  Mailbox mailbox;
  const int first = 1;
  const int second = 2;
  Request given_up = mailbox.send(0, bytes_of(first), 0);
  Request kept = mailbox.send(0, bytes_of(second), 0);
  mailbox.cancel(given_up);
  EXPECT_EQ(given_up.handle, 0U);
  mailbox.cancel(given_up);  // again: nothing
  EXPECT_EQ(next(mailbox, 0, 0), 2);
  EXPECT_TRUE(mailbox.test(kept));
}

TEST(Mailbox, KeepsTheMessageThatAReceiverGaveUp) {
  Mailbox mailbox;
  int never = -1;
  Request given_up = mailbox.receive(0, bytes_of(never), 0);
  EXPECT_FALSE(mailbox.test(given_up));
  const int value = 9;
  Request sent = mailbox.send(0, bytes_of(value), 0);
  mailbox.cancel(given_up);
  EXPECT_EQ(never, -1);
  EXPECT_EQ(next(mailbox, 0, 0), 9);
  EXPECT_TRUE(mailbox.test(sent));
}

TEST(Mailbox, ForgetsAMessageThatHasLeftAlready) {
  Mailbox mailbox;
  const int value = 3;
  Request sent = mailbox.send(0, bytes_of(value), 0);
  EXPECT_EQ(next(mailbox, 0, 0), 3);
  mailbox.cancel(sent);
  EXPECT_EQ(sent.handle, 0U);
}

// With the sanitizers this shows whether a sender may use its memory again while a receiver still reads it.
TEST(Mailbox, GivesTheMemoryBackWhenAMessageIsGivenUp) {
  constexpr std::size_t kBytes = 100000;
  Mailbox mailbox;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> source(kBytes, std::byte{1});
    Request sent = mailbox.send(0, source, round);
    std::atomic<bool> is_over = false;
    std::thread receiver([&] {
      std::vector<std::byte> destination(kBytes);
      Request wanted = mailbox.receive(0, destination, round);
      while (!is_over) {
        if (!mailbox.test(wanted)) continue;
        EXPECT_EQ(std::count(destination.begin(), destination.end(), std::byte{1}), kBytes);
        return;
      }
      mailbox.cancel(wanted);
    });
    for (int i = 0; i < round % 7; ++i) std::this_thread::yield();
    mailbox.cancel(sent);
    std::fill(source.begin(), source.end(), std::byte{2});
    is_over = true;
    receiver.join();
  }
}

TEST(SingleRank, SendsToItself) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  const int sent_value = 77;
  int value = 0;
  Request wanted = ranks->start_receive(0, bytes_of(value), 2);
  EXPECT_FALSE(ranks->test(wanted));
  Request sent = ranks->start_send(0, bytes_of(sent_value), 2);
  EXPECT_TRUE(ranks->test(wanted));
  EXPECT_TRUE(ranks->test(sent));
  EXPECT_EQ(value, 77);
}

TEST(InProcessRanks, SendInBothDirectionsAtOnce) {
  std::array<int, 2> received{};
  run_in_process(2, [&](Communicator& ranks) {
    const int own = 100 + ranks.rank();
    int& value = received[static_cast<std::size_t>(ranks.rank())];
    Request wanted = ranks.start_receive(1 - ranks.rank(), bytes_of(value), 0);
    Request sent = ranks.start_send(1 - ranks.rank(), bytes_of(own), 0);
    while (!ranks.test(wanted)) std::this_thread::yield();
    while (!ranks.test(sent)) std::this_thread::yield();
    return 0;
  });
  EXPECT_EQ(received, (std::array<int, 2>{101, 100}));
}

TEST(InProcessRanks, SendFromAllToAllManyTimes) {
  constexpr int kRanks = 8;
  constexpr int kRounds = 200;
  std::atomic<int> wrong = 0;
  run_in_process(kRanks, [&](Communicator& ranks) {
    std::array<int, kRanks> out{};
    std::array<int, kRanks> in{};
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Request> requests;
      for (int peer = 0; peer < kRanks; ++peer) {
        const auto slot = static_cast<std::size_t>(peer);
        out[slot] = (round * kRanks + ranks.rank()) * kRanks + peer;
        in[slot] = -1;
        requests.push_back(ranks.start_receive(peer, bytes_of(in[slot]), round % 3));
        requests.push_back(ranks.start_send(peer, bytes_of(out[slot]), round % 3));
      }
      while (!std::all_of(requests.begin(), requests.end(), [&](Request& one) { return ranks.test(one); })) {
        std::this_thread::yield();
      }
      for (int peer = 0; peer < kRanks; ++peer) {
        const int expected = (round * kRanks + peer) * kRanks + ranks.rank();
        if (in[static_cast<std::size_t>(peer)] != expected) ++wrong;
      }
    }
    return 0;
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace

}  // namespace fabricmark::runtime
