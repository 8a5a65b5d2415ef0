#include "runtime/memory_plan.hpp"

#include <gtest/gtest.h>

#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

namespace {

using device::BoardMemory;
using device::DeviceClass;

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;
const BoardMemory kU280{.kind = BoardMemory::Kind::kHbm,
                        .choice = BoardMemory::Choice::kHost,
                        .banks = 32,
                        .bank_bytes = 256 * kMebi};
const BoardMemory k520n{.kind = BoardMemory::Kind::kDdr,
                        .choice = BoardMemory::Choice::kInterleaved,
                        .banks = 4,
                        .bank_bytes = 8192 * kMebi};

/// The plan of a benchmark's base kernel on one of the ranks, as the parameters resolve on an FPGA.
MemoryPlan plan_of(const std::string& benchmark, const std::map<std::string, std::string>& settings,
                   const BoardMemory& memory, int ranks = 1) {
  const KernelSpec spec =
      load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / benchmark / "kernel.toml");
  const DeviceFacts facts{.device_class = DeviceClass::kFpga,
                          .banks = std::max(memory.banks, 1),
                          .separate_banks = memory.separate_banks()};
  const Parameters parameters = resolve(spec, "base", facts, settings, std::nullopt, std::nullopt);
  return {spec.variant("base"),
          parameters,
          {.device_class = DeviceClass::kFpga, .ranks = ranks, .memory = memory}};
}

/// A kernel.toml with a text, a number and a buffer whose length `bytes` says; `more` is a table of it.
KernelSpec spec_of(const std::string& bytes, const std::string& more) {
  const std::string text =
      "benchmark = \"none\"\nsummary = \"nothing\"\n" + more +
      "[variants.base]\nfile = \"base.cl\"\nentry_points = [\"none\"]\n"
      "memory = [{ name = \"more\", bytes = \"2 * size\" }]\n"
      "[variants.base.arguments]\nnone = [{ name = \"values\", kind = \"buffer\", bytes = \"" +
      bytes +
      "\" }]\n[parameters.size]\ntype = \"int\"\ndefault = 10\nstage = \"run\"\n"
      "meaning = \"a size\"\n[parameters.form]\ntype = \"string\"\n"
      "values = [\"four-step\", \"stages\"]\ndefault = \"four-step\"\nstage = \"run\"\n"
      "meaning = \"a form\"\n";
  return parse_kernel_spec(text, "kernel.toml");
}

MemoryPlan plan_of(const KernelSpec& spec, const std::map<std::string, double>& given = {}) {
  const DeviceFacts facts{.device_class = DeviceClass::kCpu};
  return {spec.variant("base"),
          resolve(spec, "base", facts, {}, std::nullopt, std::nullopt),
          {.cores = 6, .given = given}};
}

std::string refusal_of(const std::string& bytes, const std::string& more) {
  try {
    spec_of(bytes, more);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
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

TEST(MemoryPlan, TakesNamedQuantitiesChoicesAndCores) {
  const std::string quantities = "[quantities]\ntwice = \"2 * once\"\nonce = \"size + 1\"\n";
  EXPECT_EQ(plan_of(spec_of("twice^2", quantities)).of(0, "values").front().bytes, 22U * 22U);
  EXPECT_EQ(plan_of(spec_of("form_is_four_step * once", quantities)).of(0, "values").front().bytes, 11U);
  EXPECT_TRUE(plan_of(spec_of("form_is_stages * once", quantities)).of(0, "values").empty());
  EXPECT_EQ(plan_of(spec_of("cores", "")).of(0, "values").front().bytes, 6U);
}

TEST(MemoryPlan, CountsMemoryBesideTheArguments) {
  const auto plan = plan_of(spec_of("size", ""));
  EXPECT_EQ(plan.bytes("more"), 20);
  EXPECT_EQ(plan.bytes(), 30);
  EXPECT_EQ(plan.of(1, "more").size(), 1U) << "behind the entry points";
}

TEST(MemoryPlan, WaitsForWhatOnlyARunKnows) {
  const KernelSpec spec = spec_of("8 * cells", "[given]\ncells = \"size\"\n");
  EXPECT_TRUE(plan_of(spec).buffers().empty());
  EXPECT_EQ(plan_of(spec, {{"cells", 7}}).of(0, "values").front().bytes, 56U);
  EXPECT_EQ(memory_parameters(spec, spec.variant("base")), std::vector<std::string>{"size"});
}

TEST(MemoryPlan, RefusesWrongNamesAndFormulas) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(refusal_of("a", "[quantities]\na = \"b\"\nb = \"a\"\n"), "does not follow from itself"));
  EXPECT_TRUE(has(refusal_of("size", "[quantities]\nsize = \"1\"\n"), "quantities.size"));
  EXPECT_TRUE(has(refusal_of("size", "[quantities]\nvalues = \"1\"\n"), "quantities.values"));
  EXPECT_TRUE(has(refusal_of("size", "[quantities]\nA = \"1\"\n"), "quantities.A"));
  EXPECT_TRUE(has(refusal_of("size", "[quantities]\na = 1\n"), "quantities.a"));
  EXPECT_TRUE(has(refusal_of("size", "[given]\nranks = \"size\"\n"), "given.ranks"));
  EXPECT_TRUE(has(refusal_of("size", "[given]\ncells = \"mesh\"\n"), "given.cells"));
  EXPECT_TRUE(has(refusal_of("form_is_other", ""), "form_is_other"));
  EXPECT_TRUE(has(refusal_of("form", ""), "form"));
  std::string doubling = "[quantities]\na0 = \"size + size\"\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    doubling += "a" + std::to_string(i) + " = \"" + before + " + " + before + "\"\n";
  }
  EXPECT_TRUE(has(refusal_of("a39", doubling), "a shorter formula"));
}

}  // namespace

}  // namespace fabricmark::runtime
