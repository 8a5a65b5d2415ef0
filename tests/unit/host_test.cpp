#include "base/host.hpp"

#include <cstdlib>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

/// Last-level caches of a machine in hwloc's words.
std::uint64_t caches_of(const char* machine) {
  setenv("HWLOC_SYNTHETIC", machine, 1);
  const std::uint64_t bytes = last_level_cache_bytes();
  unsetenv("HWLOC_SYNTHETIC");
  return bytes;
}

TEST(LastLevelCache, IsTheSumOfAllThatAreReached) {
  EXPECT_EQ(caches_of("pack:1 l3:1(size=37486592) l2:2(size=1048576) core:1 pu:2"), 37486592U);
  EXPECT_EQ(caches_of("pack:2 l3:4(size=33554432) l2:8(size=1048576) core:1 pu:1"), 256 * kMebibyte);
  EXPECT_EQ(caches_of("pack:1 l2:4(size=2097152) core:1 pu:1"), 8 * kMebibyte);
  EXPECT_EQ(caches_of("pack:1 core:2 pu:1"), 0U);
}

// A virtual machine of two cores that is told the 384 MiB of its host.
TEST(LastLevelCache, IsNoMoreThanAProcessorHasForACore) {
  EXPECT_EQ(caches_of("pack:1 l3:1(size=402653184) core:2 pu:1"), 64 * kMebibyte);
  EXPECT_EQ(caches_of("pack:1 l3:1(size=268435456) core:8 pu:2"), 256 * kMebibyte);
}

TEST(Host, IsDescribed) {
  const Host& host = describe_host();
  EXPECT_FALSE(host.name.empty());
  EXPECT_GE(host.logical_cores, 1);
  EXPECT_GE(host.sockets, 1);
  EXPECT_GE(host.numa_nodes, 1);
  EXPECT_GT(host.memory_bytes, 100 * kMebibyte);
  EXPECT_FALSE(hwloc_version().empty());
}

}  // namespace

}  // namespace fabricmark::runtime
