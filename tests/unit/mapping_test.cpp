#include <sched.h>

#include "base/host.hpp"
#include "device/device.hpp"
#include "support.hpp"

namespace fabricmark::device {

namespace {

using test::mentions;
using test::message_of;

TEST(Mapping, ReadsIndicesSeparatedByColons) {
  EXPECT_EQ(parse_mapping("2:0:3"), (std::vector<int>{2, 0, 3}));
  EXPECT_EQ(parse_mapping("0"), (std::vector<int>{0}));
  EXPECT_EQ(parse_mapping("999999"), (std::vector<int>{999999}));
}

TEST(Mapping, RefusesEverythingElseAndQuotesIt) {
  for (const char* text :
       {"", ":", "1:", ":1", "1::2", "a", "1:a", "-1", "+1", " 1", "1 ", "1,2", "0x1", "1.0", "10000000"}) {
    const std::string message = message_of([&] { parse_mapping(text); });
    EXPECT_TRUE(mentions(message, std::string("FPGA_MAPPING='") + text + "'")) << message;
  }
}

TEST(Mapping, WithoutItRanksTakeOneDeviceAfterAnother) {
  const Selection selection;
  EXPECT_EQ(mapped_device(selection, 3, 0), 0U);
  EXPECT_EQ(mapped_device(selection, 3, 2), 2U);
  EXPECT_EQ(mapped_device(selection, 3, 7), 1U);
  EXPECT_EQ(mapped_device(selection, 1, 5), 0U);
}

TEST(Mapping, NamesADeviceForEachLocalRank) {
  Selection selection;
  selection.mapping = {2, 0};
  EXPECT_EQ(mapped_device(selection, 3, 0), 2U);
  EXPECT_EQ(mapped_device(selection, 3, 1), 0U);
  const std::string message = message_of([&] { mapped_device(selection, 3, 2); });
  EXPECT_TRUE(mentions(message, "none for local rank 2")) << message;
}

TEST(Mapping, NamesNoDeviceTwice) {
  const std::string message = message_of([] { parse_mapping("2:0:2"); });
  EXPECT_TRUE(mentions(message, "gives device 2 to two ranks")) << message;
}

TEST(Mapping, IsReadFromTheEnvironment) {
  unsetenv("FPGA_MAPPING");
  EXPECT_TRUE(mapping_of_environment().empty());
  setenv("FPGA_MAPPING", "1:0", 1);
  EXPECT_EQ(mapping_of_environment(), (std::vector<int>{1, 0}));
  unsetenv("FPGA_MAPPING");
}

TEST(Mapping, NamesADeviceThatIsNotThere) {
  Selection selection;
  selection.mapping = {0, 4};
  EXPECT_EQ(mapped_device(selection, 2, 0), 0U);
  const std::string message = message_of([&] { mapped_device(selection, 2, 1); });
  EXPECT_TRUE(mentions(message, "device 4")) << message;
  EXPECT_TRUE(mentions(message, "0 to 1")) << message;
}

TEST(DeviceClass, HasTheNamesOfTheResultFile) {
  EXPECT_EQ(class_name(DeviceClass::kCpu), "cpu");
  EXPECT_EQ(class_name(DeviceClass::kGpu), "gpu");
  EXPECT_EQ(class_name(DeviceClass::kFpga), "fpga");
  EXPECT_EQ(class_name(DeviceClass::kEmulator), "emulator");
}

TEST(RuntimeThreads, AreDividedAmongProcessesAndLeftAloneForOne) {
  unsetenv("POCL_MAX_PTHREAD_COUNT");
  setenv("CL_CONFIG_CPU_TBB_NUM_WORKERS", "7", 1);
  const int cores = usable_cores();
  ASSERT_GE(cores, 1);
  EXPECT_EQ(cap_runtime_threads(2 * cores), 1);
  EXPECT_STREQ(getenv("POCL_MAX_PTHREAD_COUNT"), "1");
  EXPECT_STREQ(getenv("CL_CONFIG_CPU_TBB_NUM_WORKERS"), "7") << "what the user has set counts";
  unsetenv("POCL_MAX_PTHREAD_COUNT");
  unsetenv("CL_CONFIG_CPU_TBB_NUM_WORKERS");
}

// Under Slurm's --cpus-per-task=1, or in a container with --cpuset-cpus.
TEST(RuntimeThreads, AreNoMoreThanTheMaskOfTheProcessHolds) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core";
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t core = 0; CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  unsetenv("POCL_MAX_PTHREAD_COUNT");
  unsetenv("CL_CONFIG_CPU_TBB_NUM_WORKERS");
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  EXPECT_EQ(cap_runtime_threads(1), 1);
  sched_setaffinity(0, sizeof(before), &before);
  EXPECT_STREQ(getenv("POCL_MAX_PTHREAD_COUNT"), "1");
  EXPECT_STREQ(getenv("CL_CONFIG_CPU_TBB_NUM_WORKERS"), "1");
  unsetenv("POCL_MAX_PTHREAD_COUNT");
  unsetenv("CL_CONFIG_CPU_TBB_NUM_WORKERS");
}

}  // namespace

}  // namespace fabricmark::device
