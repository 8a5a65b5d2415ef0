#include "base/control_groups.hpp"
#include "base/host.hpp"

#include <sys/resource.h>

#include <limits>
#include <string>

#include "support.hpp"

namespace fabricmark {

namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Files of /proc and /sys as a process in a group sees them.
class Machine {
 public:
  Machine(const std::string& groups, const std::string& mounts) {
    put("proc/self/cgroup", groups);
    put("proc/self/mountinfo", mounts);
    put("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n");
  }
  void has(const std::string& file, const std::string& content) const {
    put("sys/fs/cgroup/" + file, content + "\n");
  }
  [[nodiscard]] ControlGroups groups() const { return control_groups(folder_.path().string()); }
  [[nodiscard]] MemoryRoom room() const { return host_memory_room(folder_.path().string()); }

 private:
  void put(const std::string& file, const std::string& content) const {
    static_cast<void>(folder_.write(file, content));
  }
  test::TemporaryFolder folder_;
};

const std::string kVersion2 =
    "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string kVersion1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(ControlGroups, OfVersion2LimitMemoryAndProcessors) {
  const Machine machine("0::/job/step\n", kVersion2);
  EXPECT_EQ(machine.groups().free_bytes, kNoLimit);
  EXPECT_EQ(machine.groups().cpus, 0);
  machine.has("job/step/memory.max", std::to_string(400 * kMebibyte));
  machine.has("job/step/memory.current", std::to_string(150 * kMebibyte));
  machine.has("job/step/memory.stat", "anon 1\ninactive_file " + std::to_string(50 * kMebibyte));
  machine.has("job/step/cpu.max", "150000 100000");
  EXPECT_EQ(machine.groups().free_bytes, 300 * kMebibyte) << "files that were read can go";
  EXPECT_TRUE(machine.groups().memory_group.ends_with("/job/step"));
  EXPECT_EQ(machine.groups().cpus, 1.5);
  machine.has("job/memory.max", std::to_string(100 * kMebibyte));
  machine.has("job/cpu.max", "50000 100000");
  EXPECT_EQ(machine.groups().free_bytes, 100 * kMebibyte) << "those above it count";
  EXPECT_EQ(machine.groups().cpus, 0.5);
  machine.has("job/memory.current", std::to_string(101 * kMebibyte));
  EXPECT_EQ(machine.groups().free_bytes, 0U);
  machine.has("job/memory.max", "max");
  machine.has("job/cpu.max", "max 100000");
  EXPECT_EQ(machine.groups().free_bytes, 300 * kMebibyte);
  EXPECT_EQ(machine.groups().cpus, 1.5);
}

TEST(ControlGroups, OfVersion1DoAsWell) {
  const Machine machine("4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/\n", kVersion1);
  machine.has("memory/memory.limit_in_bytes", "9223372036854771712");
  machine.has("memory/a/b/memory.limit_in_bytes", std::to_string(64 * kMebibyte));
  machine.has("memory/a/b/memory.usage_in_bytes", std::to_string(4 * kMebibyte));
  machine.has("memory/a/b/memory.stat", "inactive_file 1\ntotal_inactive_file " + std::to_string(kMebibyte));
  machine.has("cpu/c/cpu.cfs_quota_us", "400000");
  machine.has("cpu/c/cpu.cfs_period_us", "100000");
  machine.has("cpu/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(machine.groups().free_bytes, 61 * kMebibyte);
  EXPECT_EQ(machine.groups().cpus, 4);
}

// A container sees its own group as the root of the file system, and may know it by the host's name.
TEST(ControlGroups, AreFoundInAContainer) {
  const std::string shown = "30 25 0:26 /docker/12 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  for (const std::string& group :
       {std::string("0::/docker/12\n"), std::string("0::/\n"), std::string("0::/x/y\n")}) {
    const Machine machine(group, shown);
    machine.has("memory.max", std::to_string(kMebibyte));
    EXPECT_EQ(machine.groups().free_bytes, kMebibyte) << group;
  }
}

TEST(ControlGroups, ThatAreNotThereLimitNothing) {
  for (const char* odd : {"", "nonsense\n", "0:\n", "::\n", "0::/../..\n"}) {
    const Machine machine(odd, "1 2\n - - -\n30 25 0:26 / /x rw - cgroup2\n");
    EXPECT_EQ(machine.groups().free_bytes, kNoLimit);
    EXPECT_EQ(machine.groups().cpus, 0);
  }
}

TEST(MemoryRoom, IsTheHostsOrThatOfAControlGroup) {
  const Machine machine("0::/job\n", kVersion2);
  EXPECT_EQ(machine.room().bytes, 8192 * kMebibyte);
  EXPECT_EQ(machine.room().where, "on the host");
  machine.has("job/memory.max", std::to_string(400 * kMebibyte));
  EXPECT_EQ(machine.room().bytes, 400 * kMebibyte);
  EXPECT_TRUE(test::mentions(machine.room().where, "in the control group ")) << machine.room().where;
}

TEST(MemoryRoom, OfAProcessEndsAtItsLimits) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes more addresses than any limit";
#else
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  constexpr rlim_t kMany = rlim_t{1} << 40;
  limit.rlim_cur = std::min(before.rlim_max, kMany);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const MemoryRoom room = address_room();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LT(room.bytes, limit.rlim_cur);
  EXPECT_TRUE(test::mentions(room.where, "RLIMIT_AS")) << room.where;
  // Other programs take and release memory between both readings.
  bool is_within = false;
  for (int i = 0; i < 1000 && !is_within; ++i)
    is_within = available_memory_bytes() <= host_memory_room().bytes;
  EXPECT_TRUE(is_within);
#endif
}

TEST(UsableCores, AreNoMoreThanTheMachineHas) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), machine_cores());
}

}  // namespace

}  // namespace fabricmark
