#include "harness/agreement.hpp"

#include <array>
#include <new>

#include "device/opencl.hpp"
#include "support.hpp"

namespace fabricmark::harness {

namespace {

using test::mentions;

TEST(Attempt, TurnsEveryExceptionIntoAFailureWithARemedy) {
  EXPECT_FALSE(attempt([] {}).has_value());
  const auto own = attempt([] { throw bad_use("cause", "remedy"); });
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->code, ExitCode::kBadUse);
  EXPECT_EQ(own->message, "cause; remedy");
  for (const auto& action : std::vector<std::function<void()>>{
           [] { throw std::bad_alloc(); }, [] { throw std::runtime_error("oops"); },
           [] { throw cl::Error(CL_OUT_OF_RESOURCES, "clFinish"); }}) {
    const auto failure = attempt(action);
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code, ExitCode::kEnvironment);
    EXPECT_TRUE(mentions(failure->message, "; ")) << failure->message;
  }
  EXPECT_TRUE(mentions(attempt([] { throw cl::Error(CL_OUT_OF_RESOURCES, "clFinish"); })->message,
                       "clFinish with CL_OUT_OF_RESOURCES"));
}

TEST(Attempt, LetsAPeersFailurePass) {
  EXPECT_THROW(attempt([] { throw PeerFailure(); }), PeerFailure);
}

/// What each of four ranks learns when `action(rank)` runs on all together.
std::array<std::string, 4> learned(const std::function<void(int)>& action) {
  std::array<std::string, 4> messages;
  run_in_process(4, [&](Ranks& ranks) {
    try {
      together(ranks, [&] { action(ranks.rank()); });
    } catch (const AgreedFailure& failure) {
      messages[static_cast<std::size_t>(ranks.rank())] =
          std::to_string(static_cast<int>(failure.code)) + " " + failure.message;
    }
    return 0;
  });
  return messages;
}

TEST(Together, GoesOnWhenNobodyFails) {
  for (const std::string& message : learned([](int) {})) EXPECT_EQ(message, "");
}

TEST(Together, ThrowsTheSameFailureOnAllRanks) {
  const auto messages = learned([](int rank) {
    if (rank == 2) throw bad_use("cause", "remedy");
  });
  for (const std::string& message : messages) EXPECT_EQ(message, "2 cause; remedy (rank 2)");
}

TEST(Together, TakesTheFirstOfSeveralFailures) {
  const auto messages = learned([](int rank) {
    if (rank == 1) throw environment_failure("first", "remedy");
    if (rank == 3) throw bad_use("second", "remedy");
  });
  for (const std::string& message : messages) EXPECT_EQ(message, "3 first; remedy (rank 1)");
}

TEST(Together, SaysNoRankWhereThereIsOnlyOne) {
  const std::unique_ptr<Ranks> ranks = single_rank();
  try {
    together(*ranks, [] { throw bad_use("cause", "remedy"); });
    FAIL();
  } catch (const AgreedFailure& failure) {
    EXPECT_EQ(failure.message, "cause; remedy");
  }
}

TEST(Together, CanBeFollowedByMoreAfterASuccess) {
  const int result = run_in_process(3, [](Ranks& ranks) {
    for (int step = 0; step < 50; ++step) together(ranks, [] {});
    return static_cast<int>(ranks.largest(ranks.rank()));
  });
  EXPECT_EQ(result, 2);
}

}  // namespace

}  // namespace fabricmark::harness
