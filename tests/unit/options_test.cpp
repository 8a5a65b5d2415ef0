#include "runtime/options.hpp"

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;
using Words = std::vector<std::string>;

std::variant<Options, std::string> parse_words(const Words& words) {
  static const KernelSpec spec =
      load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / "stream" / "kernel.toml");
  return parse_options(words, "fm_stream", spec);
}

Options options(const Words& words) { return std::get<Options>(parse_words(words)); }

TEST(Options, HaveDefaults) {
  unsetenv("FPGA_MAPPING");
  const Options given = options({});
  EXPECT_EQ(given.ranks, 1);
  EXPECT_EQ(given.repetitions, 0) << "the benchmark decides";
  EXPECT_EQ(given.warmup, 1);
  EXPECT_EQ(given.memory, "") << "the transport decides";
  EXPECT_EQ(memory_over("", given.memory), "buffer");
  EXPECT_EQ(memory_over("host", given.memory), "buffer");
  EXPECT_EQ(memory_over("nvlink", given.memory), "peer");
  EXPECT_EQ(memory_over("nvlink", "buffer"), "buffer");
  EXPECT_FALSE(given.json || given.fault || given.delay || given.min_time_seconds || given.timeline);
  EXPECT_EQ(given.max_time_seconds, 20);
  EXPECT_TRUE(given.parameters.empty() && given.selection.mapping.empty());
}

TEST(Options, AreReadWithTheKernelsParameters) {
  const Options given = options({"--size", "2^20", "--vector-width=8", "--platform", "Portable", "--device",
                                 "0", "--min-time", "0.5", "--inject-fault", "zeros:b@1", "--inject-delay",
                                 "10%", "--json", "-", "--timeline", "--ranks", "3"});
  EXPECT_EQ(given.parameters, (std::map<std::string, std::string>{{"size", "2^20"}, {"vector_width", "8"}}));
  EXPECT_EQ(given.selection.platform, "Portable");
  EXPECT_EQ(given.selection.device, "0");
  EXPECT_EQ(given.min_time_seconds, 0.5);
  EXPECT_EQ(given.fault->target, "b");
  EXPECT_EQ(given.delay->share, 0.1);
  EXPECT_EQ(given.json, "-");
  EXPECT_TRUE(given.timeline);
  EXPECT_EQ(given.ranks, 3);
}

TEST(Options, TakeOneLimitOfTime) {
  EXPECT_EQ(options({"--max-time", "2.5"}).max_time_seconds, 2.5);
  EXPECT_FALSE(options({"--repetitions", "3"}).max_time_seconds) << "as many as are asked for";
  EXPECT_FALSE(options({"--min-time", "3"}).max_time_seconds);
  EXPECT_TRUE(mentions(message_of([] {
                         parse_words({"--max-time", "1", "--min-time", "1"});
                       }),
                       "exclude each other"));
}

TEST(Options, SayWhichOneHasNoValue) {
  for (const Words& words : {Words{"--size="}, Words{"--size", ""}, Words{"--size", "--vector-width=8"}})
    EXPECT_TRUE(mentions(message_of([&] { parse_words(words); }), "--size is given without a value"));
}

TEST(Options, ReadTheMappingFromTheEnvironment) {
  setenv("FPGA_MAPPING", "2:0", 1);
  EXPECT_EQ(options({}).selection.mapping, (std::vector<int>{2, 0}));
  setenv("FPGA_MAPPING", "x", 1);
  EXPECT_TRUE(mentions(message_of([] { parse_words({}); }), "FPGA_MAPPING"));
  unsetenv("FPGA_MAPPING");
}

TEST(Options, NameTheUnknownOneAndTheNearest) {
  EXPECT_TRUE(mentions(message_of([] { parse_words({"--sise", "100"}); }), "'--sise'; did you mean --size?"));
  EXPECT_TRUE(mentions(message_of([] {
                         parse_words({"--size", "1", "--vector-with=8"});
                       }),
                       "'--vector-with'; did you mean --vector-width?"));
  const std::string far = message_of([] { parse_words({"--bananas", "5"}); });
  EXPECT_TRUE(mentions(far, "'--bananas'; see fm_stream --help")) << far;
  EXPECT_TRUE(mentions(message_of([] { parse_words({"--size", "100", "stray"}); }), "'stray'"));
}

TEST(Options, PrintHelpWithEveryParameterAndTheVersion) {
  const std::string help = std::get<std::string>(parse_words({"--help"}));
  for (const char* name : {"--size", "--vector-width", "--buffer-size", "--json", "--ranks", "--memory"}) {
    EXPECT_TRUE(mentions(help, name)) << name;
  }
  EXPECT_TRUE(mentions(std::get<std::string>(parse_words({"--version"})), "fm_stream "));
}

/// What stands below a heading of the help.
std::string help_group(const std::string& help, const std::string& heading) {
  const std::size_t begin = help.find("\n" + heading + ":");
  return begin == std::string::npos ? "" : help.substr(begin, help.find("\n\n", begin) - begin);
}

TEST(Options, AreInGroupsOfTheHelpWithNamesOfTheirValues) {
  const std::string help = std::get<std::string>(parse_words({"--help"}));
  EXPECT_EQ(std::ranges::count(help_group(help, "Options"), '\n'), 3) << help << "an option without a group";
  for (const auto& [heading, option] :
       {std::pair{"Problem and kernel parameters", "--vector-width 1|2|4"},
        std::pair{"Problem and kernel parameters", "--size N"}, std::pair{"Device", "--device INDEX|NAME"},
        std::pair{"Transport and ranks", "inside this process (1 to 1024)"},
        std::pair{"Kernel and bitstream", "--kernel-file FILE"},
        std::pair{"Measurement", "--min-time SECONDS"}, std::pair{"Output", "--json FILE"}}) {
    EXPECT_TRUE(mentions(help_group(help, heading), option)) << heading << ": " << option << "\n" << help;
  }
  EXPECT_FALSE(mentions(help, " in [")) << help;
}

TEST(Options, AreTakenByTheirOldNamesForOneVersion) {
  EXPECT_TRUE(options({"--charge", "--system", "s.json"}).simulates);
}

class WrongOptions : public testing::TestWithParam<Words> {};

TEST_P(WrongOptions, AreRefusedByName) {
  const std::string message = message_of([] { parse_words(GetParam()); });
  std::string name = GetParam().front();
  EXPECT_TRUE(mentions(message, name.substr(name.find_first_not_of('-')))) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongOptions,
    testing::Values(Words{"--nonsense"}, Words{"stray"}, Words{"-x"}, Words{"--size"},
                    Words{"--size", "1", "--size", "2"}, Words{"--repetitions", "0"},
                    Words{"--repetitions", "x"}, Words{"--repetitions", "99999999999"},
                    Words{"--warmup", "-1"}, Words{"--ranks", "0"}, Words{"--ranks", "1025"},
                    Words{"--min-time", "-1"}, Words{"--min-time", "nan"}, Words{"--min-time", "inf"},
                    Words{"--min-time", "x"}, Words{"--json", ""}, Words{"--json", "--timeline"},
                    Words{"--kernel-file", ""}, Words{"--platform", ""}, Words{"--size", ""},
                    Words{"--memory", "hbm"}, Words{"--inject-fault", "x"}, Words{"--inject-delay", "x"},
                    Words{"--kernel-file", "a.cl", "--bitstream", "b"},
                    Words{"--inject-fault", "scale", "--skip-validation"}, Words{"--simulate"},
                    Words{"--timing-only"},
                    Words{"--timing-only", "--system", "s.json", "--platform", "dry-run"},
                    Words{"--timing-only", "--system", "s.json", "--inject-fault", "scale"},
                    Words{"--timing-only", "--system", "s.json", "--kernel-file", "a.cl"},
                    Words{"--timing-only", "--system", "s.json", "--min-time", "1"}));

TEST(Options, ForTimingAloneAreThoseOfADryRunDeviceAndOneRepetition) {
  const Options found = options({"--timing-only", "--system", "s.json"});
  EXPECT_TRUE(found.simulates);
  EXPECT_EQ(found.selection.platform, "dry-run");
  EXPECT_EQ(found.repetitions, 1);
  EXPECT_EQ(found.warmup, 0);
  const Options asked =
      options({"--timing-only", "--system", "s.json", "--repetitions", "3", "--warmup", "2"});
  EXPECT_EQ(asked.repetitions, 3);
  EXPECT_EQ(asked.warmup, 2);
  const Options simulated = options({"--simulate", "--system", "s.json"});
  EXPECT_TRUE(simulated.simulates && !simulated.timing_only && !simulated.selection.platform);
}

TEST(Options, RefuseAResultFileThatCannotBeWrittenBeforeTheRun) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("file", "");
  for (const auto& place : {folder.path(), file / "below"}) {
    EXPECT_TRUE(mentions(message_of([&] { parse_words({"--json", place.string()}); }), place.string()));
    EXPECT_TRUE(mentions(message_of([&] {
                           parse_words({"--save-bitstream", place.string()});
                         }),
                         place.string()));
  }
  EXPECT_NO_THROW(parse_words({"--json", (folder.path() / "new" / "folder" / "r.json").string()}));
}

}  // namespace

}  // namespace fabricmark::runtime
