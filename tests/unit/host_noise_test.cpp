#include "runtime/host_noise.hpp"

#include <fstream>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

/// A folder with the files of a host of two CPUs.
class CountersOfAHost : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("host_noise_" + std::to_string(getpid()));
    write(0, 0, 0, 0);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void write(int busy, int stolen, int stalled, int pages) const {
    const std::string numbers = std::to_string(busy) + " 0 0 500 7 0 0 " + std::to_string(stolen) + " 0 0\n";
    put("proc/stat", "cpu  " + numbers + "cpu0 " + numbers + "cpu1 " + numbers + "intr 5\n");
    put("proc/pressure/memory", "some avg10=0.00 total=" + std::to_string(stalled) + "\nfull total=0\n");
    put("proc/vmstat", "pgpgin 9\npswpin " + std::to_string(pages) + "\npswpout 0\n");
    put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", std::to_string(pages) + "\n");
  }
  std::filesystem::path root_;
};

TEST_F(CountersOfAHost, IsWhatTheCountersWentUpBy) {
  const HostCounters before = read_host_counters(root_);
  write(300, 20, 500000, 10);
  const RankNoise noise = between(before, read_host_counters(root_));
  const auto hertz = static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_EQ(noise.cpus, 2);
  EXPECT_DOUBLE_EQ(noise.busy_seconds, 300 / hertz);
  EXPECT_DOUBLE_EQ(noise.stolen_seconds, 20 / hertz);
  EXPECT_DOUBLE_EQ(noise.memory_stall_seconds.value_or(-1), 0.5);
  EXPECT_DOUBLE_EQ(noise.swapped_bytes.value_or(-1), 10.0 * static_cast<double>(sysconf(_SC_PAGE_SIZE)));
  EXPECT_DOUBLE_EQ(noise.throttled.value_or(-1), 10);
}

TEST_F(CountersOfAHost, IsNothingWhereCountersAreDamagedOrAbsent) {
  for (const char* text : {"", "cpu", "cpu 1 2 x 4 5 6 7 8\ncpu0 1\n", "cpu 1 2 3\n",
                           "cpu 1 2 3 4 5 6 7 -8\n", "cpu nan 2 3 4 5 6 7 8\ncpu0 1\n"}) {
    put("proc/stat", text);
    put("proc/pressure/memory", text);
    put("proc/vmstat", text);
    const HostCounters counters = read_host_counters(root_);
    EXPECT_EQ(counters.cpus, 0) << text;
    EXPECT_FALSE(counters.memory_stall_seconds || counters.swapped_bytes) << text;
  }
  EXPECT_EQ(read_host_counters("/nowhere").cpus, 0);
}

TEST(NoiseOfHosts, CountsEachProcessOnceAndNamesEachHostOnce) {
  const RankNoise a{.process = 7, .seconds = 2, .cpus = 4, .own_seconds = 3, .busy_seconds = 6};
  const RankNoise other{.process = 8, .seconds = 2, .cpus = 4, .own_seconds = 1, .busy_seconds = 6};
  const RankNoise elsewhere{
      .process = 7, .seconds = 4, .cpus = 2, .own_seconds = 1, .busy_seconds = 1, .stolen_seconds = 2};
  const std::vector<RankNoise> ranks{a, a, other, elsewhere};
  const std::vector<std::string> hosts{"n1", "n1", "n1", "n2"};
  std::vector<bool> are_emulated(4, false);
  const std::vector<HostNoise> found = noise_of_hosts(ranks, hosts, are_emulated);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].host + found[1].host, "n1n2");
  EXPECT_DOUBLE_EQ(found[0].other_load.value_or(-1), 2.0 / 8);
  EXPECT_DOUBLE_EQ(found[1].other_load.value_or(-1), 0);
  EXPECT_DOUBLE_EQ(found[1].stolen, 0.25);
  are_emulated[1] = true;
  EXPECT_FALSE(noise_of_hosts(ranks, hosts, are_emulated)[0].other_load);
}

TEST(NoiseOfHosts, AreNoneOfShortRepetitionsAndOfHostsThatTellNothing) {
  const std::vector<RankNoise> ranks{{.process = 1, .seconds = 0.4, .cpus = 4}, {.process = 2, .seconds = 9}};
  const std::vector<std::string> hosts{"n1", "n2"};
  EXPECT_TRUE(noise_of_hosts(ranks, hosts, {false, false}).empty());
}

}  // namespace

}  // namespace fabricmark::runtime
