#include "device/program.hpp"
#include "device/folders.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "support.hpp"

namespace fabricmark::device {

namespace {

using test::mentions;
using test::message_of;

TEST(ExpandIncludes, PutsAFileInItsPlaceOnce) {
  const test::TemporaryFolder folder;
  (void)folder.write("common/a.h", "A\n#include \"common/b.h\"\n");
  (void)folder.write("common/b.h", "B\n");
  const auto file =
      folder.write("own/kernel.cl", "1\n#include \"common/a.h\"\n  #  include  \"common/b.h\"  \n2\n");
  EXPECT_EQ(expand_includes(file, folder.path()), "1\nA\nB\n#line 3\n#line 3\n#line 4\n2\n");
}

TEST(ExpandIncludes, PutsAFileInItsPlaceAgainWhereACompilerMayHaveSkippedIt) {
  const test::TemporaryFolder folder;
  (void)folder.write("a.h", "#ifndef A_H\n#define A_H\n#include \"b.h\"\nA\n#endif\n");
  (void)folder.write("b.h", "B\n");
  const auto text_of = [&](const std::string& text) {
    return expand_includes(folder.write("k.cl", text), folder.path());
  };
  const auto times = [](const std::string& text, const std::string& line) {
    std::istringstream lines(text);
    return std::count(std::istream_iterator<std::string>(lines), {}, line);
  };
  const std::string both = "#if X\n#include \"a.h\"\n#else\n #  include \"a.h\"\n#endif\n#include \"b.h\"\n";
  EXPECT_EQ(times(text_of(both), "A"), 2);
  EXPECT_EQ(times(text_of(both), "B"), 3) << "also what a file in an #if includes";
  EXPECT_EQ(times(text_of("#include \"a.h\"\n" + both), "A"), 1) << "a guard around a whole file is no #if";
  EXPECT_EQ(times(text_of("#include \"a.h\"\n" + both), "B"), 1);
  EXPECT_EQ(source_of(folder.write("k.cl", both), folder.path()).files.size(), 3) << "each named once";
}

TEST(ExpandIncludes, PrefersTheFileBeside) {
  const test::TemporaryFolder folder;
  (void)folder.write("x.h", "root\n");
  (void)folder.write("own/x.h", "beside\n");
  EXPECT_EQ(expand_includes(folder.write("own/k.cl", "#include \"x.h\"\n"), folder.path()),
            "beside\n#line 2\n");
}

/// What a kernel of the user's was put together from: "own" or "suite" of each file.
std::map<std::string, std::string> origins(const std::filesystem::path& file,
                                           const std::filesystem::path& root) {
  std::map<std::string, std::string> found;
  for (const SourceFile& one : source_of(file, root).files) {
    EXPECT_TRUE(found.emplace(one.name, one.is_own ? "own" : "suite").second) << one.name;
    EXPECT_EQ(one.digest.size(), 32U);
  }
  return found;
}

// A header of the suite that includes another one must not get the suite's where the user has a changed copy.
TEST(ExpandIncludes, PrefersTheFolderOfTheKernelFileInHeadersToo) {
  using Origins = std::map<std::string, std::string>;
  const test::TemporaryFolder suite;
  (void)suite.write("hpl/base.cl", "#include \"hpl/a.h\"\n");
  (void)suite.write("hpl/a.h", "#include \"hpl/b.h\"\n");
  (void)suite.write("hpl/b.h", "#include \"c.h\"\n#include \"common/d.h\"\n");
  (void)suite.write("hpl/c.h", "C\n");
  (void)suite.write("common/d.h", "D\n");
  const auto shipped = suite.path() / "hpl" / "base.cl";
  EXPECT_EQ(origins(shipped, suite.path()), (Origins{{"hpl/base.cl", "suite"},
                                                     {"hpl/a.h", "suite"},
                                                     {"hpl/b.h", "suite"},
                                                     {"hpl/c.h", "suite"},
                                                     {"common/d.h", "suite"}}));
  const test::TemporaryFolder user;
  const auto beside = user.write("base.cl", "#include \"hpl/a.h\"\n");
  (void)user.write("hpl/c.h", "own c\n");
  EXPECT_EQ(origins(beside, suite.path()), (Origins{{"base.cl", "own"},
                                                    {"hpl/a.h", "suite"},
                                                    {"hpl/b.h", "suite"},
                                                    {"hpl/c.h", "own"},
                                                    {"common/d.h", "suite"}}));
  EXPECT_TRUE(mentions(expand_includes(beside, suite.path()), "own c"));
  const auto copied = user.write("hpl/mine.cl", "#include \"hpl/a.h\"\n");  // in a copy of the folder
  (void)user.write("hpl/b.h", "own b\n");
  EXPECT_EQ(origins(copied, suite.path()),
            (Origins{{"mine.cl", "own"}, {"hpl/a.h", "suite"}, {"b.h", "own"}}));
}

TEST(ExpandIncludes, PutsAFileThatIncludesItselfInItsPlaceForEachReplica) {
  const test::TemporaryFolder folder;
  (void)folder.write("a.h", "A\n");
  const auto file = folder.write("k.cl", "#include \"a.h\"\nkernel\n#if MORE\n#include __FILE__\n#endif\n");
  const std::string first = "A\n#line 2\nkernel\n#if MORE\n";
  const std::string next = "#undef FM_REPLICA\n#define FM_REPLICA 1\n#line 1\n#line 2\nkernel\n#if MORE\n";
  const std::string end = "#line 5\n#endif\n";
  EXPECT_EQ(expand_includes(file, folder.path()), first + end);
  EXPECT_EQ(expand_includes(file, folder.path(), 2), first + next + end + end);
  EXPECT_EQ(expand_includes(folder.write("one.cl", "kernel\n"), folder.path(), 2), "kernel\n");
}

TEST(ExpandIncludes, EndsWhenFilesIncludeEachOther) {
  const test::TemporaryFolder folder;
  (void)folder.write("a.h", "#include \"b.h\"\nA\n");
  (void)folder.write("b.h", "#include \"a.h\"\nB\n");
  const std::string text = expand_includes(folder.write("k.cl", "#include \"a.h\"\n"), folder.path());
  EXPECT_TRUE(mentions(text, "A\n") && mentions(text, "B\n"));
}

// A line that is not expanded would be missing in the key of the build cache.
TEST(ExpandIncludes, SeesAnIncludeWithACommentOrAWindowsLineEnd) {
  const test::TemporaryFolder folder;
  (void)folder.write("a.h", "A\n");
  const auto file = folder.write("k.cl", "#include \"a.h\"  // why\n");
  EXPECT_EQ(expand_includes(file, folder.path()), "A\n#line 2\n");
  EXPECT_EQ(expand_includes(folder.write("w.cl", "#include \"a.h\"\r\n"), folder.path()), "A\n#line 2\n");
}

TEST(ExpandIncludes, LeavesOtherLinesAlone) {
  const test::TemporaryFolder folder;
  const std::string text =
      "#include <x.h>\n#include \"\"\n#includes\n#define include \"x\"\n// #include \"x\"\n";
  EXPECT_EQ(expand_includes(folder.write("k.cl", text), folder.path()), text);
}

TEST(ExpandIncludes, NamesTheFileThatIsMissing) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("k.cl", "#include \"missing.h\"\n");
  EXPECT_TRUE(mentions(message_of([&] { expand_includes(file, folder.path()); }), "missing.h"));
  const auto nowhere = folder.path() / "nowhere.cl";
  EXPECT_TRUE(mentions(message_of([&] { expand_includes(nowhere, folder.path()); }), "nowhere.cl"));
  EXPECT_TRUE(mentions(message_of([&] { expand_includes(folder.path(), folder.path()); }), "kernel file"));
}

// std::regex, which stood here once, overflows the stack on them.
TEST(ExpandIncludes, SurvivesVeryLongLines) {
  const test::TemporaryFolder folder;
  const std::string blanks = "#" + std::string(600000, ' ') + "\n";
  EXPECT_EQ(expand_includes(folder.write("a.cl", blanks), folder.path()), blanks);
  const auto file = folder.write("b.cl", "#include \"" + std::string(400000, 'a') + "\"\n");
  message_of([&] { expand_includes(file, folder.path()); });
}

TEST(BuildKey, DependsOnEverythingThatChangesTheBinary) {
  DeviceInfo info;
  info.platform = "P";
  info.platform_version = "V";
  info.name = "N";
  info.driver = "D";
  std::set<std::string> keys{build_key(info, "source", "-DA=1")};
  keys.insert(build_key(info, "source ", "-DA=1"));
  keys.insert(build_key(info, "source", "-DA=2"));
  for (std::string DeviceInfo::*field :
       {&DeviceInfo::platform, &DeviceInfo::platform_version, &DeviceInfo::name, &DeviceInfo::driver}) {
    DeviceInfo other = info;
    other.*field += "x";
    keys.insert(build_key(other, "source", "-DA=1"));
  }
  EXPECT_EQ(keys.size(), 7U);
  EXPECT_EQ(build_key(info, "source", "-DA=1"), build_key(info, "source", "-DA=1"));
  EXPECT_EQ(keys.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(keys.begin()->size(), 32U);
}

TEST(CacheFolder, FollowsTheEnvironment) {
  setenv("FABRICMARK_CACHE", "/own", 1);
  EXPECT_EQ(cache_folder(), "/own");
  setenv("FABRICMARK_CACHE", "", 1);
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(cache_folder(), "/xdg/fabricmark");
  unsetenv("FABRICMARK_CACHE");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(cache_folder(), "/home/somebody/.cache/fabricmark");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder(), "/home/somebody/.cache/fabricmark");
  unsetenv("XDG_CACHE_HOME");
  for (const char* home : {"", "relative"}) {
    setenv("HOME", home, 1);
    EXPECT_TRUE(cache_folder().empty() || cache_folder().is_absolute()) << "not in the current folder";
  }
  setenv("HOME", "/home/somebody", 1);
}

TEST(PoclCache, IsBelowTheFolderOfTemporaryFilesWhereHomeCannotBeWritten) {
  const char* const home = std::getenv("HOME");
  const std::string before = home != nullptr ? home : "";
  const test::TemporaryFolder folder;
  unsetenv("POCL_CACHE_DIR");
  setenv("TMPDIR", folder.path().c_str(), 1);
  setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  prepare_pocl_cache();
  EXPECT_EQ(std::getenv("POCL_CACHE_DIR"), nullptr) << "its usual place will do";
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/proc/nowhere", 1);
  prepare_pocl_cache();
  const std::filesystem::path own = folder.path() / ("fabricmark-pocl-" + std::to_string(getuid()));
  EXPECT_STREQ(std::getenv("POCL_CACHE_DIR"), own.c_str());
  EXPECT_FALSE(trouble_with_pocl_cache());
  unsetenv("POCL_CACHE_DIR");
  std::filesystem::permissions(own, std::filesystem::perms::all);
  prepare_pocl_cache();
  const char* const chosen = std::getenv("POCL_CACHE_DIR");
  EXPECT_STRNE(chosen != nullptr ? chosen : "", own.c_str()) << "everybody may put kernels there";
  setenv("POCL_CACHE_DIR", "/proc/nowhere", 1);
  prepare_pocl_cache();
  EXPECT_STREQ(std::getenv("POCL_CACHE_DIR"), "/proc/nowhere") << "what the user says counts";
  unsetenv("POCL_CACHE_DIR");
  unsetenv("TMPDIR");
  setenv("HOME", before.c_str(), 1);
}

TEST(PoclCache, ThatCannotBeWrittenIsNamed) {
  const test::TemporaryFolder folder;
  setenv("POCL_CACHE_DIR", (folder.path() / "made" / "later").c_str(), 1);
  EXPECT_FALSE(trouble_with_pocl_cache());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "looking leaves nothing behind";
  DeviceInfo info;
  for (const std::string& place : {std::string("/proc/nowhere"), folder.write("file", "").string()}) {
    setenv("POCL_CACHE_DIR", place.c_str(), 1);
    EXPECT_TRUE(mentions(trouble_with_pocl_cache().value_or(""), place));
    info.platform = "Portable Computing Language";
    EXPECT_TRUE(mentions(message_of([&] { check_runtime_cache(info); }, ExitCode::kEnvironment), place));
    info.platform = "another";
    check_runtime_cache(info);
  }
  unsetenv("POCL_CACHE_DIR");
}

}  // namespace

}  // namespace fabricmark::device
