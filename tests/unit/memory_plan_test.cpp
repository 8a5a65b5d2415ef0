#include "runtime/memory_plan.hpp"

#include <gtest/gtest.h>

#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

namespace {

using device::BoardMemory;
using device::DeviceClass;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
const BoardMemory kU280{.kind = BoardMemory::Kind::kHbm,
                        .choice = BoardMemory::Choice::kHost,
                        .banks = 32,
                        .bank_bytes = 256 * kMebibyte};
const BoardMemory k520n{.kind = BoardMemory::Kind::kDdr,
                        .choice = BoardMemory::Choice::kInterleaved,
                        .banks = 4,
                        .bank_bytes = 8192 * kMebibyte};

/// The plan of a benchmark's base kernel on one of the ranks, as the parameters resolve on an FPGA.
MemoryPlan plan_of(const std::string& benchmark, const std::map<std::string, std::string>& settings,
                   const BoardMemory& memory, int ranks = 1) {
  const KernelSpec spec =
      load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / benchmark / "kernel.toml");
  const DeviceFacts facts{.device_class = DeviceClass::kFpga,
                          .banks = std::max(memory.banks, 1),
                          .separate_banks = memory.separate_banks()};
  const Parameters parameters = resolve(spec, "base", facts, settings, std::nullopt, std::nullopt);
  return {spec.variant("base"), parameters, DeviceClass::kFpga, ranks, memory};
}

std::size_t matrix_parts(const std::string& size, const std::string& block, const BoardMemory& memory,
                         const std::string& banks) {
  const auto plan =
      plan_of("hpl", {{"size", size}, {"block_size", block}, {"matrix_banks", banks}, {"data_type", "float"}},
              memory);
  return plan.of(0, "a").size();
}

TEST(MemoryPlan, SpreadsAMatrixOverBanksThatHaveRoomForAllElse) {
  EXPECT_EQ(matrix_parts("33280", "256", kU280, "32"), 32U);
  EXPECT_EQ(matrix_parts("33280", "512", kU280, "32"), 30U) << "panels need room, too";
  EXPECT_EQ(matrix_parts("4096", "512", kU280, "32"), 8U) << "a row each";
  EXPECT_EQ(matrix_parts("46080", "512", kU280, "32"), 32U) << "does not fit at all";
  EXPECT_EQ(matrix_parts("33280", "256", {}, "4"), 4U) << "nothing is known of banks";
  EXPECT_EQ(matrix_parts("33280", "256", kU280, "4"), 4U) << "refused below";
  EXPECT_EQ(matrix_parts("33280", "256", kU280, "0"), 1U);
}

TEST(MemoryPlan, RefusesWhatFindsNoRoomInABank) {
  EXPECT_NO_THROW(plan_of("hpl", {{"size", "33280"}}, kU280).require_banks());
  EXPECT_THROW(plan_of("hpl", {{"size", "33280"}, {"matrix_banks", "4"}}, kU280).require_banks(), Error);
  EXPECT_NO_THROW(plan_of("gemm", {{"size", "20480"}, {"replications", "5"}}, k520n).require_banks());
  EXPECT_THROW(plan_of("gemm", {{"size", "46080"}, {"replications", "5"}}, k520n).require_banks(), Error);
}

// A prime number of elements, so that the last replica has less than the others.
TEST(MemoryPlan, SharesAnArrayAmongReplicas) {
  const auto plan = plan_of(
      "stream", {{"size", "1000003"}, {"replications", "3"}, {"vector_width", "16"}, {"buffer_size", "64"}},
      k520n);
  constexpr std::uint64_t kBlock = 16 * 64 * sizeof(float);  // 977 of them
  const auto first = plan.of(0, "first");
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[0].bytes, 326 * kBlock);
  EXPECT_EQ(first[1].bytes, 326 * kBlock);
  EXPECT_EQ(first[2].bytes, 325 * kBlock);
  EXPECT_EQ(first[2].bank, 2);
  EXPECT_EQ(plan.bytes(), 3 * 977 * kBlock) << "each array in whole blocks";
  EXPECT_EQ(plan.largest_bytes(), 326 * kBlock);
}

TEST(MemoryPlan, LeavesOutReplicasWithoutWork) {
  const auto plan = plan_of("stream", {{"size", "1"}, {"replications", "4"}}, k520n);
  EXPECT_EQ(plan.of(0, "first").size(), 1U);
}

TEST(MemoryPlan, IsOfTheRankThatHasMost) {
  const auto plan = plan_of(
      "hpl", {{"size", "1000"}, {"block_size", "100"}, {"register_block", "4"}, {"grid_rows", "3"}}, {}, 6);
  EXPECT_EQ(plan.of(0, "a").front().bytes, 4 * 5 * 100 * 100 * sizeof(float)) << "of 10 blocks, over 3 x 2";
}

TEST(MemoryPlan, HasOneBufferForEachNameOfAnArgument) {
  const auto plan = plan_of("gemm", {{"size", "4096"}, {"replications", "3"}, {"b_copies", "2"}}, kU280);
  EXPECT_EQ(plan.of(0, "b").size(), 2U);
  EXPECT_EQ(plan.of(0, "b")[1].place.part, 1);
  EXPECT_EQ(plan.of(0, "result").size(), 3U);
  EXPECT_FALSE(plan.of(0, "result").front().place.part);
  EXPECT_TRUE(plan.of(0, "alpha").empty());
}

}  // namespace

}  // namespace fabricmark::runtime
