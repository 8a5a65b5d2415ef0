// What programs read of an .xclbin before XRT does, also of one that is damaged.
#include "device/xclbin.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace fabricmark::device {
namespace {

constexpr std::size_t kFront = 456, kRow = 40;  // of XRT's structure axlf

template <typename T>
void put(std::string& bytes, std::size_t place, T value) {
  std::memcpy(bytes.data() + place, &value, sizeof(value));
}

/// Two memories of 256 MiB and 1 GiB, of which the second one is used by the only argument of one unit.
std::string container() {
  std::string memories(8 + 2 * kRow, '\0'), links(4 + 12, '\0'), units(8 + 80, '\0');
  put(memories, 0, std::int32_t{2});
  put(memories, 8 + 8, std::uint64_t{256} << 10U);
  put(memories, 8 + kRow, std::uint16_t{0x0100});  // used
  put(memories, 8 + kRow + 8, std::uint64_t{1} << 20U);
  put(links, 0, std::int32_t{1});
  put(links, 12, std::int32_t{1});
  put(units, 0, std::int32_t{1});
  const std::string metadata =
      R"(<kernel name="k" vlnv="fabricmark:card:k:1.0"><arg name="a" type="int"/></kernel>)";
  const std::vector<std::pair<std::uint32_t, std::string>> sections{
      {0, "library"}, {2, metadata}, {6, memories}, {7, links}, {8, units}};
  std::string bytes(kFront + sections.size() * kRow, '\0');
  std::memcpy(bytes.data(), "xclbin2", 8);
  std::memcpy(bytes.data() + 352, "board", 6);
  put(bytes, 448, static_cast<std::uint32_t>(sections.size()));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    put(bytes, kFront + i * kRow, sections[i].first);
    put(bytes, kFront + i * kRow + 24, static_cast<std::uint64_t>(bytes.size()));
    put(bytes, kFront + i * kRow + 32, static_cast<std::uint64_t>(sections[i].second.size()));
    bytes += sections[i].second;
  }
  put(bytes, 304, static_cast<std::uint64_t>(bytes.size()));
  return bytes;
}

DeviceInfo emulated() {
  DeviceInfo info;
  info.name = "board";
  info.is_emulated_board = true;
  return info;
}

class Xclbin : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(setenv("XCL_EMULATION_MODE", "sw_emu", 1), 0); }
  void TearDown() override { ASSERT_EQ(unsetenv("XCL_EMULATION_MODE"), 0); }
};

TEST_F(Xclbin, SaysItsMemories) {
  const std::string good = container();
  EXPECT_EQ(fault_of_xclbin(good, emulated()), "");
  EXPECT_TRUE(is_of_emulated_card(good));
  EXPECT_EQ(first_memory_of_xclbin(good), 1);
  EXPECT_EQ(memory_bytes_of_xclbin(good, 0), std::uint64_t{256} << 20U);
  EXPECT_EQ(memory_bytes_of_xclbin(good, 1), std::uint64_t{1} << 30U);
  EXPECT_EQ(memory_bytes_of_xclbin(good, 2), 0U);
  EXPECT_EQ(memory_bytes_of_xclbin(good, -1), 0U);
  EXPECT_EQ(memory_bytes_of_xclbin(good), std::uint64_t{1} << 30U);
  EXPECT_EQ(memory_bytes_of_xclbin("no container"), 0U);
}

TEST_F(Xclbin, OfTheEmulatedCardIsForSoftwareEmulation) {
  ASSERT_EQ(setenv("XCL_EMULATION_MODE", "hw_emu", 1), 0);
  EXPECT_EQ(fault_of_xclbin(container(), emulated()), "it is for XCL_EMULATION_MODE=sw_emu, which is hw_emu");
  ASSERT_EQ(unsetenv("XCL_EMULATION_MODE"), 0);
  EXPECT_EQ(fault_of_xclbin(container(), {}), "it is for XCL_EMULATION_MODE=sw_emu, which is not set");
}

/// Under the address sanitizer above all.
TEST_F(Xclbin, AnyDamageIsReadOrRefused) {
  const std::string good = container();
  std::mt19937 random(20261130);  // NOLINT(bugprone-random-generator-seed): the same each time
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  constexpr int kRounds = 5000;
  int read = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string damaged = good.substr(0, round % 3 == 0 ? below(good.size()) + 1 : good.size());
    for (std::size_t i = below(4) + 1; i > 0; --i)
      damaged[below(damaged.size())] = static_cast<char>(below(256));
    // Of the right length, so that what lies behind the header is looked at.
    if (damaged.size() >= 312) put(damaged, 304, static_cast<std::uint64_t>(damaged.size()));

    const std::string fault = fault_of_xclbin(damaged, emulated());
    EXPECT_EQ(fault.find('\n'), std::string::npos);
    if (!fault.empty()) continue;
    ++read;
    static_cast<void>(metadata_of_xclbin(damaged));
    static_cast<void>(memory_bytes_of_xclbin(damaged, first_memory_of_xclbin(damaged)));
    static_cast<void>(memory_bytes_of_xclbin(damaged));
    static_cast<void>(scheduler_advice(damaged));
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, kRounds);
}

}  // namespace
}  // namespace fabricmark::device
