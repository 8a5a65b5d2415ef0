#include <fmt/format.h>

#include <algorithm>

#include "runtime/result.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

constexpr const char* kDevice = "pthread-skylake-avx512-Intel(R) Xeon(R) Processor @ 2.50GHz";

Result table_sample() {
  Result result;
  result.benchmark = "host_transfer";
  result.variant = "base";
  result.kernel.origin = "shipped";
  result.device.name = kDevice;
  result.placement = {{"host", "device", 0, 1}};
  for (int i = 0; i < 30; ++i) result.parameters.set(fmt::format("parameter_{}", i), std::int64_t{1} << i);
  result.repetitions = 2;
  result.region_names = {"copy"};
  result.seconds = {{{1, 2}}};
  for (const char* axis : {"to_device blocking page-aligned 268435456 16", "both"}) {
    result.metrics.push_back(bandwidth("copy", 1e9));
    result.metrics.back().axes = {{"operation", axis}};
  }
  Verdict verdict{.name = "write, execute, read",
                  .error = 1,
                  .measure = "largest difference over the rounding errors of the arithmetic in use",
                  .checked = 33554432};
  verdict.worst = WorstPlace{"row 1234567 of the second of three arrays", 30.5, 45.25};
  verdict.repetition = 3;
  result.verdicts = {{verdict, 0}};
  result.energy = {{"package-0", "rapl", 12.5, 3, 5}, {"package-1", "rapl", 12.5, 3, 5}};
  result.notes = {
      "the device shares the host's memory: migrations would move nothing and were left out of the run"};
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Table : public testing::TestWithParam<std::size_t> {};

TEST_P(Table, HasNoLineWiderThanTheTerminal) {
  for (const std::string& line : lines_of(to_table(table_sample(), GetParam()))) {
    EXPECT_LE(columns(line), GetParam()) << line;
  }
}

TEST_P(Table, BreaksNoNameAndNoNumber) {
  const std::string text = to_table(table_sample(), GetParam());
  for (const std::string& whole :
       {std::string("host_transfer base (base, measured)"), std::string("on ") + kDevice + ",",
        std::string("1 rank"), std::string("parameter_29=536870912"), std::string("write, execute, read:"),
        std::string("33554432 values checked"), std::string("row 1234567 of the second of three arrays"),
        std::string("on rank 0 in repetition 3:"), std::string("expected 30.5,"), std::string("found 45.25"),
        std::string("to_device blocking page-aligned 268435456 16"), std::string("all of rapl:"),
        std::string("12.5 J,")}) {
    EXPECT_NE(text.find(whole), std::string::npos) << whole << " is not in\n" << text;
  }
}

TEST_P(Table, HasItsColumnsBelowTheirHeadings) {
  const std::vector<std::string> lines = lines_of(to_table(table_sample(), GetParam()));
  const auto heading =
      std::ranges::find_if(lines, [](const std::string& line) { return line.ends_with("deviation  unit"); });
  ASSERT_NE(heading, lines.end());
  const std::size_t unit = heading->find("unit");
  int rows = 0;
  for (const std::string& line : lines) {
    if (line.size() == unit + 4 && line.ends_with("GB/s")) rows += line.find("GB/s") == unit ? 1 : 0;
  }
  EXPECT_EQ(rows, 2);
}

INSTANTIATE_TEST_SUITE_P(Widths, Table, testing::Values(80, 100, 140));

TEST(NarrowTable, HasNamesOnLinesOfTheirOwn) {
  const std::vector<std::string> lines = lines_of(to_table(table_sample(), 60));
  const auto name = std::ranges::find(lines, "to_device blocking page-aligned 268435456 16");
  ASSERT_NE(name, lines.end());
  EXPECT_TRUE(std::next(name)->ends_with("GB/s"));
}

TEST(KindsInTheTable, StandInTheHeadingAndInAColumnWhereTheyDiffer) {
  Result result = table_sample();
  EXPECT_EQ(to_table(result, 100).find("modelled"), std::string::npos);
  result.metrics[1].kind = TimeKind::kModelled;
  result.modelled_seconds = {{{0.5, 0.25}}};
  const std::string text = to_table(result, 100);
  EXPECT_NE(text.find("(base, measured and modelled)"), std::string::npos) << text;
  EXPECT_NE(text.find("measured     1"), std::string::npos) << text;
  EXPECT_NE(text.find("modelled     4"), std::string::npos) << text;
  result.metrics.erase(result.metrics.begin());
  const std::string alone = to_table(result, 100);
  EXPECT_NE(alone.find("(base, modelled)"), std::string::npos) << alone;
  EXPECT_EQ(alone.find("per W"), std::string::npos) << alone;  // the watts are of this host
}

TEST(TerminalWidth, IsWhatTheVariableSays) {
  setenv("COLUMNS", "97", 1);
  EXPECT_EQ(terminal_width(), 97U);
  setenv("COLUMNS", "wide", 1);
  EXPECT_NE(terminal_width(), 0U);
  unsetenv("COLUMNS");
}

TEST(Columns, CountCharactersNotBytes) {
  EXPECT_EQ(columns("caf\xc3\xa9"), 4U);
  EXPECT_EQ(packed({"caf\xc3\xa9", "au", "lait"}, 7, 2), "caf\xc3\xa9 au\n  lait\n");
}

TEST(Devices, HaveTheirNamesWholeInEightyColumns) {
  device::FoundDevice found;
  found.info.platform = "Portable Computing Language";
  found.info.name = kDevice;
  const std::string text = devices_table({found}, 80);
  EXPECT_NE(text.find(kDevice), std::string::npos);
  for (const std::string& line : lines_of(text)) EXPECT_LE(columns(line), 80U) << line;
}

}  // namespace

TEST(Line, HasVerdictAndFirstMetric) {
  Result result = table_sample();
  EXPECT_EQ(to_line(result),
            "host_transfer base: INVALID, 1 of 1 checks, write, execute, read; "
            "to_device blocking page-aligned 268435456 16 1 GB/s (measured)\n");
  result.verdicts.front().verdict.threshold = 1;
  EXPECT_EQ(to_line(result).find("host_transfer base: valid, 1 check; "), 0);
  result.verdicts.clear();
  EXPECT_EQ(to_line(result).find("host_transfer base: INVALID, nothing was checked; "), 0);
  result.validated = false;
  result.metrics.clear();
  EXPECT_EQ(to_line(result), "host_transfer base: not checked\n");
}

}  // namespace fabricmark::runtime
