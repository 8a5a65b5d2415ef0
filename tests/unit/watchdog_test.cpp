#include "base/watchdog.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/crash.hpp"
#include "support.hpp"

namespace fabricmark {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

void wait_for_ever(Awaiting what) {
  limit_waits(0.05);
  const Watched watched(what);
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

TEST(WatchdogDeathTest, AWaitWithoutEndEndsTheProcessWithOneLine) {
  EXPECT_EXIT(wait_for_ever(Awaiting::kDevice), testing::ExitedWithCode(3),
              "error: a command of the device has not ended in 0.05 s; .*--kernel-timeout\n$");
  EXPECT_EXIT(wait_for_ever(Awaiting::kEnd), testing::ExitedWithCode(3),
              "error: closing the device and its runtime has not ended");
}

TEST(WatchdogDeathTest, TheKernelThatWasStartedLastIsNamed) {
  const auto wait = [] {
    note_start(lasting_name("triad"));
    const Watched outer(Awaiting::kDevice);
    wait_for_ever(Awaiting::kDevice);
  };
  EXPECT_EXIT(wait(), testing::ExitedWithCode(3), "the kernel 'triad' has not ended in");
}

TEST(WatchdogDeathTest, WaitsThatHaveEndedAreLeftAlone) {
  const auto wait = [] {
    for (int i = 0; i < 8; ++i) {
      std::thread([] {
        const Watched outer(Awaiting::kDevice);
        const Watched inner(Awaiting::kDevice);
      }).join();
    }
    limit_waits(0.05);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::_Exit(0);
  };
  EXPECT_EXIT(wait(), testing::ExitedWithCode(0), "^$");
}

TEST(CrashDeathTest, MakesOneLineAndRemovesTheResult) {
  if (kHasSanitizer) GTEST_SKIP() << "whose own report says more";
  const test::TemporaryFolder folder;
  const std::string file = folder.path() / "result.json";
  std::ofstream(file) << "valid\n";
  const auto crash = [&](int number) {
    speak_when_crashing("fm_test");
    note_start(lasting_name("transpose"));
    remove_when_crashing(file);
    std::raise(number);
  };
  EXPECT_EXIT(
      crash(SIGSEGV), testing::ExitedWithCode(3),
      "^fm_test: error: memory was touched .*SIGSEGV.*; the kernel 'transpose' was started last: .*\n$");
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EXIT(crash(SIGABRT), testing::ExitedWithCode(3), "^fm_test: error: a library gave up .*\n$");
  EXPECT_EXIT(crash(SIGBUS), testing::ExitedWithCode(3), "SIGBUS");
}

}  // namespace

}  // namespace fabricmark
