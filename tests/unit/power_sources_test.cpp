// The sources of power against trees of files, programs and a library that stand in for the real ones.
#include <sys/stat.h>
#include <unistd.h>

#include "base/subprocess.hpp"
#include "power/sampler.hpp"
#include "power_support.hpp"

namespace fabricmark::power {

namespace {

using test::mentions;
using test::message_of;
using test::Nothing;
using test::Variable;

Settings asking(const std::string& source, const std::string& command = "") {
  Settings settings;
  settings.source = source;
  settings.command = command;
  return settings;
}

std::vector<std::string> names(const Source& source) {
  std::vector<std::string> all;
  for (const Domain& domain : source.domains) all.push_back(domain.name);
  return all;
}

TEST(Rapl, FindsPackagesAndTheirMemoryOnce) {
  const Nothing host;
  host.zone("intel-rapl:0", "package-0", "1000000\n");
  host.zone("intel-rapl:0:0", "core", "1\n");
  host.zone("intel-rapl:0:1", "dram", "2000000\n");
  host.zone("intel-rapl:1", "package-1", "3000000\n");
  host.zone("intel-rapl:2", "psys", "4\n");
  host.zone("intel-rapl-mmio:0", "package-0", "1000000\n");
  host.write("powercap/intel-rapl/enabled", "1\n");
  const Source source = open_rapl();
  EXPECT_EQ(names(source), (std::vector<std::string>{"package-0", "dram-0", "package-1"}));
  EXPECT_DOUBLE_EQ(source.domains[1].read().value(), 2);
  EXPECT_DOUBLE_EQ(source.domains[1].wrap_joules, 262143.32885);
  EXPECT_TRUE(source.notes.empty());
}

TEST(Rapl, LeavesOutWhatIsNoNumber) {
  const Nothing host;
  for (const char* text : {"", "\n", "abc\n", "12 J\n", "nan\n"}) {
    host.zone("intel-rapl:0", "package-0", text);
    EXPECT_TRUE(open_rapl().domains.empty()) << text;
  }
  std::filesystem::remove(host.folder.path() / "powercap/intel-rapl:0/energy_uj");
  EXPECT_TRUE(open_rapl().domains.empty());
}

TEST(Rapl, SaysWhenOnlyRootMayReadIt) {
  const Nothing host;
  host.zone("intel-rapl:0", "package-0", "1\n");
  const auto file = host.folder.path() / "powercap/intel-rapl:0/energy_uj";
  chmod(file.c_str(), 0);
  chmod(host.folder.path().c_str(), 0755);
  constexpr uid_t kNobody = 65534;
  const bool is_root = geteuid() == 0;
  if (is_root && seteuid(kNobody) != 0) GTEST_SKIP() << "cannot become another user";
  const Source source = open_rapl();
  ASSERT_TRUE(!is_root || seteuid(0) == 0);
  EXPECT_TRUE(source.domains.empty());
  ASSERT_EQ(source.notes.size(), 1U);
  EXPECT_TRUE(mentions(source.notes[0], "package-0") && mentions(source.notes[0], "root"));
}

TEST(Hwmon, FindsEverySensorOfPowerOnceAndPrefersTheAverage) {
  const Nothing host;
  host.write("hwmon/hwmon0/name", "amdgpu\n");
  host.write("hwmon/hwmon0/power1_average", "30000000\n");
  host.write("hwmon/hwmon0/power1_input", "99000000\n");
  host.write("hwmon/hwmon0/power1_label", "PPT\n");
  host.write("hwmon/hwmon0/power1_cap", "200000000\n");
  host.write("hwmon/hwmon1/name", "ina226\n");
  host.write("hwmon/hwmon1/power10_input", "5500000\n");
  host.write("hwmon/hwmon1/temp1_input", "40000\n");
  host.write("hwmon/hwmon2/name", "board\n");
  host.write("hwmon/hwmon2/power1_input", "7000000\n");
  host.write("hwmon/hwmon2/device/xmc.m.1/xmc_power", "7000000\n");
  const Source source = open_hwmon();
  EXPECT_EQ(names(source), (std::vector<std::string>{"amdgpu-hwmon0-PPT", "ina226-hwmon1-power10"}));
  EXPECT_DOUBLE_EQ(source.domains[0].read().value(), 30);
  EXPECT_DOUBLE_EQ(source.domains[1].read().value(), 5.5);
}

TEST(Xrt, FindsTheSensorOfEachBoard) {
  const Nothing host;
  host.write("xocl/0000:3b:00.1/xmc.u.15728640/xmc_power", "41440000\n");
  host.write("xocl/0000:5e:00.1/rom.u.0/VBNV", "xilinx_u280\n");
  host.write("xocl/bind", "");
  const Source source = open_xrt();
  EXPECT_EQ(names(source), (std::vector<std::string>{"board-0000:3b:00.1"}));
  EXPECT_DOUBLE_EQ(source.domains[0].read().value(), 41.44);
}

TEST(Nvml, ReadsCountersWhereAGpuHasThemAndPowerElsewhere) {
  const Nothing host;
  const Variable library("FABRICMARK_NVML", FABRICMARK_FAKE_NVML);
  const Source source = open_nvml();
  // The stand-in: 0 has a counter, 1 has power only, 2 cannot be opened, 3 has neither.
  EXPECT_EQ(names(source), (std::vector<std::string>{"gpu-0", "gpu-1"}));
  EXPECT_EQ(source.domains[0].quantity, Quantity::kEnergy);
  EXPECT_DOUBLE_EQ(source.domains[0].read().value(), 123.456);
  EXPECT_EQ(source.domains[1].quantity, Quantity::kPower);
  EXPECT_DOUBLE_EQ(source.domains[1].read().value(), 70.5);
}

TEST(Sources, AreNoneWhereNothingCanBeRead) {
  const Nothing host;
  EXPECT_TRUE(open_sources({}).empty());
  Sampler sampler(open_sources({}), std::chrono::milliseconds(1));
  sampler.start();
  const Reading reading = sampler.stop();
  EXPECT_TRUE(reading.energies.empty() && reading.notes.empty());
}

TEST(Sources, SayWhenTheOneAskedForHasNothingToRead) {
  const Nothing host;
  for (const char* name : {"rapl", "nvml", "xrt", "hwmon"}) {
    const std::vector<Source> found = open_sources(asking(name));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].domains.empty());
    EXPECT_TRUE(mentions(found[0].notes.at(0), name));
  }
}

TEST(Sources, RefuseWhatMakesNoSense) {
  EXPECT_TRUE(mentions(message_of([] { check(asking("sun")); }), "--power 'sun'"));
  EXPECT_TRUE(mentions(message_of([] { check(asking("")); }), "--power"));
  EXPECT_TRUE(mentions(message_of([] { check(asking("command")); }), "--power-command"));
  EXPECT_TRUE(mentions(message_of([] { check(asking("off", "watts")); }), "exclude each other"));
}

TEST(Words, AreSplitAtBlanksAndKeptByQuotes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_words("  a  bc\td "), (Words{"a", "bc", "d"}));
  EXPECT_EQ(split_words("'my tool' --x=\"1 2\" ''"), (Words{"my tool", "--x=1 2", ""}));
  EXPECT_EQ(split_words("a$b *;|\\"), (Words{"a$b", "*;|\\"}));
  for (const char* text : {"", "  ", "'open", "a \"b", "''"}) {
    EXPECT_TRUE(mentions(message_of([&] { split_words(text); }), "--power-command")) << text;
  }
}

TEST(Command, IsReadAsWatts) {
  const Source source = open_command("printf ' 42.5\\n'");
  EXPECT_DOUBLE_EQ(source.domains.at(0).read().value(), 42.5);
  EXPECT_EQ(source.domains[0].quantity, Quantity::kPower);
}

TEST(Command, IsRefusedWhenItFailsOrPrintsNoNumber) {
  const std::vector<std::pair<std::string, std::string>> bad{{"false", "exit status 1"},
                                                             {"/nowhere/watts", "cannot be started"},
                                                             {"echo 42 W", "42 W"},
                                                             {"printf '1\\n2\\n'", "not watts"},
                                                             {"true", "not watts"},
                                                             {"echo -5", "not watts"},
                                                             {"sh -c 'kill -9 $$'", "signal 9"},
                                                             {"echo nan", "not watts"},
                                                             {"echo 'x", "quote"}};
  for (const auto& [command, part] : bad) {
    const std::string message = message_of([&] { open_command(command); });
    EXPECT_TRUE(mentions(message, "--power-command") && mentions(message, part)) << message;
  }
}

TEST(Command, IsEndedWhenItHangs) {
  const auto start = std::chrono::steady_clock::now();
  for (const char* command : {"sleep 60", "sh -c 'sleep 60 & sleep 60'", "sh -c 'exec >&-; sleep 60'"}) {
    EXPECT_TRUE(mentions(run_command(split_words(command), 0.1).failure, "did not end")) << command;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Command, MayPrintMoreThanAnyPipeHolds) {
  EXPECT_EQ(run_command(split_words("head -c 1000000 /dev/zero"), 10).failure, "");
}

}  // namespace

}  // namespace fabricmark::power
