#include "transport/messages.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "support.hpp"

namespace fabricmark::transport {

namespace {

using runtime::Communicator;
using runtime::run_in_process;
using runtime::single_rank;
using test::mentions;
using test::message_of;

constexpr double kShort = 0.05;  // s
constexpr double kLong = 60;     // s

double seconds_of(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Messages, ThatDoNotArriveNameRankBytesAndDirection) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  std::array<std::byte, 48> memory{};
  Messages messages(*ranks, kShort);
  const std::size_t position = messages.receive(0, memory, 0);
  EXPECT_FALSE(messages.is_done(position));
  std::string message;
  const double seconds =
      seconds_of([&] { message = message_of([&] { messages.wait(position); }, ExitCode::kEnvironment); });
  EXPECT_TRUE(mentions(message, "48 bytes from rank 0 in 0.05 s")) << message;
  EXPECT_TRUE(mentions(message, "--timeout")) << message;
  EXPECT_GE(seconds, kShort);
}

TEST(Messages, ThatAreNotTakenNameRankBytesAndDirection) {
  run_in_process(3, [](Communicator& ranks) {
    if (ranks.rank() == 0) {
      const std::array<std::byte, 7> memory{};
      Messages messages(ranks, kShort);
      messages.send(2, memory, 0);
      const std::string message = message_of([&] { messages.wait_all(); }, ExitCode::kEnvironment);
      EXPECT_TRUE(mentions(message, "7 bytes to rank 2 in 0.05 s")) << message;
    }
    ranks.barrier();
    return 0;
  });
}

TEST(Messages, HaveOneDeadlineForAll) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  std::array<std::byte, 4> memory{};
  Messages messages(*ranks, kShort);
  for (int tag = 0; tag < 20; ++tag) messages.receive(0, memory, tag);
  const double seconds = seconds_of([&] {
    for (std::size_t i = 0; i < 20; ++i) message_of([&] { messages.wait(i); }, ExitCode::kEnvironment);
  });
  EXPECT_LT(seconds, 10 * kShort) << "the time does not start again with each message";
}

TEST(Messages, ThatArePromptNeedNoTime) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  const std::array<std::byte, 4> source{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  std::array<std::byte, 4> destination{};
  for (int round = 0; round < 1000; ++round) {
    Messages messages(*ranks, 1e-9);
    messages.receive(0, destination, 0);
    messages.send(0, source, 0);
    messages.wait_all();
  }
  EXPECT_EQ(destination, source);
}

class MessagesWaited : public testing::TestWithParam<Waiting> {};
INSTANTIATE_TEST_SUITE_P(ByAskingAndSleeping, MessagesWaited,
                         testing::Values(Waiting::kSpin, Waiting::kSleep));

TEST_P(MessagesWaited, ArriveFromASlowRank) {
  run_in_process(2, [](Communicator& ranks) {
    int value = 5;
    const auto memory = std::as_writable_bytes(std::span(&value, 1));
    Messages messages(ranks, kLong, GetParam());
    if (ranks.rank() == 0) {
      value = 0;
      messages.receive(1, memory, 0);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      messages.send(0, memory, 0);
    }
    messages.wait_all();
    EXPECT_EQ(value, 5);
    return 0;
  });
}

TEST(Messages, ThatARankSleepsOnHaveADeadlineToo) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  std::array<std::byte, 4> memory{};
  Messages messages(*ranks, kShort, Waiting::kSleep);
  messages.receive(0, memory, 0);
  const std::string message = message_of([&] { messages.wait_all(); }, ExitCode::kEnvironment);
  EXPECT_TRUE(mentions(message, "4 bytes from rank 0 in 0.05 s")) << message;
}

TEST(Messages, MoveWhileBothRanksWaitForWhatTheySend) {
  run_in_process(2, [](Communicator& ranks) {
    const int own = ranks.rank();
    int value = -1;
    Messages messages(ranks, kLong);
    messages.receive(1 - own, std::as_writable_bytes(std::span(&value, 1)), 0);
    messages.wait(messages.send(1 - own, std::as_bytes(std::span(&own, 1)), 0));
    messages.wait_all();
    EXPECT_EQ(value, 1 - own);
    return 0;
  });
}

TEST(Messages, AreGivenUpWhenTheirListGoes) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  std::array<int, 2> values{1, 2};
  int never = -1;
  {
    Messages abandoned(*ranks, kLong);
    abandoned.send(0, std::as_bytes(std::span(values).first(1)), 0);
    abandoned.receive(0, std::as_writable_bytes(std::span(&never, 1)), 1);
  }
  int received = 0;
  Messages messages(*ranks, kLong);
  messages.receive(0, std::as_writable_bytes(std::span(&received, 1)), 0);
  messages.send(0, std::as_bytes(std::span(values).last(1)), 0);
  messages.wait_all();
  EXPECT_EQ(received, 2) << "the message that was given up is gone";
  EXPECT_EQ(never, -1);
}

TEST(Messages, OfAnotherLengthNameTheSender) {
  std::atomic<int> refused = 0;
  run_in_process(2, [&](Communicator& ranks) {
    std::array<std::byte, 12> memory{};
    Messages messages(ranks, kLong);
    if (ranks.rank() == 0) {
      messages.receive(1, std::span(memory).first(8), 0);
      const std::string message = message_of([&] { messages.wait_all(); }, ExitCode::kEnvironment);
      refused += mentions(message, "rank 1 sent 12 bytes where 8 were expected") ? 1 : 0;
    } else {
      messages.send(0, memory, 0);
      messages.wait_all();
    }
    return 0;
  });
  EXPECT_EQ(refused, 1);
}

}  // namespace

}  // namespace fabricmark::transport
