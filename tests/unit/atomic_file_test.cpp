#include "base/atomic_file.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "support.hpp"

namespace fabricmark {

namespace {

using test::content_of;
using test::mentions;
using test::message_of;

TEST(WriteAtomically, WritesAndReplaces) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "result.json";
  write_atomically(file, "first");
  EXPECT_EQ(content_of(file), "first");
  write_atomically(file, "");
  EXPECT_EQ(content_of(file), "");
  const std::string binary("\0\n\xff", 3);
  write_atomically(file, binary);
  EXPECT_EQ(content_of(file), binary);
}

TEST(WriteAtomically, LeavesNothingElseBehind) {
  const test::TemporaryFolder folder;
  write_atomically(folder.path() / "result.json", "x");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteAtomically, MakesMissingFolders) {
  const test::TemporaryFolder folder;
  write_atomically(folder.path() / "a" / "b" / "c.json", "x");
  EXPECT_EQ(content_of(folder.path() / "a" / "b" / "c.json"), "x");
}

TEST(WriteAtomically, NamesAPlaceThatCannotBeWritten) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("file", "x");
  for (const auto& place : {file / "below", folder.path(), std::filesystem::path("/proc/no/where")}) {
    EXPECT_TRUE(mentions(message_of([&] { write_atomically(place, "y"); }), place.string()));
  }
  EXPECT_EQ(content_of(file), "x");
}

// A rename would put a plain file in the place of /dev/null or /dev/stdout, which as root succeeds.
TEST(WriteAtomically, WritesIntoAPipeInsteadOfReplacingIt) {
  const test::TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content_of(pipe); });
  write_atomically(pipe, "through");
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(WriteAtomically, ReplacesTheFileThatALinkLeadsTo) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("there/file", "old");
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink("there/file", folder.path() / "nearer");
  std::filesystem::create_symlink("nearer", link);
  write_atomically(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(content_of(file), "new");
  std::filesystem::remove(file);
  write_atomically(link, "made");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(content_of(file), "made");
  std::filesystem::create_symlink("round", folder.path() / "round");
  EXPECT_TRUE(mentions(message_of([&] { write_atomically(folder.path() / "round", "x"); }), "round"));
}

// Opened by its name, a file would be written over from its start.
TEST(WriteAtomically, WritesIntoAnOpenStreamWhereItIs) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "file";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  std::fputs("before ", file);
  std::fflush(file);
  write_atomically("/dev/fd/" + std::to_string(fileno(file)), "after");
  std::fclose(file);
  EXPECT_EQ(content_of(path), "before after");
  EXPECT_TRUE(mentions(message_of([] { write_atomically("/dev/fd/987", "x"); }), "/dev/fd/987"));
}

TEST(WriteAtomically, SaysThatADiskIsFull) {
  const std::string message =
      test::message_of([] { write_atomically("/dev/full", "x"); }, ExitCode::kEnvironment);
  EXPECT_TRUE(mentions(message, "'/dev/full': No space left on device")) << message;
}

TEST(WriteAtomically, LeavesAWholeFileWheneverTheWriterIsKilled) {
  constexpr int kKills = 20;
  constexpr std::size_t kBytes = 1 << 20;
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "result.json";
  write_atomically(file, std::string(kBytes, 'a'));
  std::mt19937 random(1);
  std::uniform_int_distribution<int> microseconds(0, 20000);
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    const pid_t writer = fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      for (char letter = 'a';; letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1)) {
        write_atomically(file, std::string(kBytes, letter));
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    const std::string content = content_of(file);
    ASSERT_EQ(content.size(), kBytes);
    ASSERT_EQ(std::count(content.begin(), content.end(), content.front()), std::ptrdiff_t{kBytes});
  }
}

}  // namespace

}  // namespace fabricmark
