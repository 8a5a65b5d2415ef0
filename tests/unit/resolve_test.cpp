#include "runtime/kernel_spec.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using device::DeviceClass;
using test::mentions;
using test::message_of;

const std::string kText = R"(benchmark = "b"
summary = "s"
[variants.base]
file = "f.cl"
entry_points = ["k"]
[variants.fast]
file = "g.cl"
entry_points = ["k"]
defaults = { width = { cpu = 16 }, copies = 1 }
largest = { block = 1024 }
lacks = { kind = ["half"] }
[parameters.width]
type = "int"
values = [1, 2, 4, 8, 16]
default = 4
stage = "build"
meaning = "m"
[parameters.block]
type = "int"
range = [1, 1099511627776]
default = { cpu = 64, gpu = 32, fpga = 4096 }
stage = "build"
meaning = "m"
[parameters.copies]
type = "int"
range = [1, 64]
default = { cpu = "cores", gpu = 1, fpga = "banks", emulator = 2 }
stage = "run"
meaning = "m"
[parameters.kind]
type = "string"
values = ["half", "float"]
default = "float"
stage = "build"
meaning = "m"
[parameters.share]
type = "float"
range = [0, 1]
default = 1
stage = "run"
meaning = "m"
[parameters.check]
type = "bool"
default = true
stage = "build"
meaning = "m"
[[constraints]]
expression = "block % width == 0"
meaning = "make block a multiple of width"
)";

using Texts = std::map<std::string, std::string>;

KernelSpec spec() { return parse_kernel_spec(kText, "kernel.toml"); }

DeviceFacts on(DeviceClass device_class) { return {device_class, 6, 4}; }

Parameters resolved(const Texts& command_line, const std::optional<Overrides>& system = {},
                    const std::optional<Overrides>& sidecar = {}) {
  return resolve(spec(), "base", on(DeviceClass::kCpu), command_line, system, sidecar);
}

Overrides overrides(std::map<std::string, Value> parameters) {
  Overrides overrides;
  overrides.origin = "over.toml";
  overrides.parameters = std::move(parameters);
  return overrides;
}

/// A sidecar that says all build parameters.
Overrides built(std::int64_t width) {
  return overrides({{"width", width}, {"block", std::int64_t{64}}, {"kind", "float"}, {"check", true}});
}

TEST(Resolve, TakesTheCommandLineBeforeTheSystemBeforeTheDeviceClass) {
  EXPECT_EQ(resolved({}).integer("block"), 64);
  const Overrides system = overrides({{"block", std::int64_t{128}}});
  EXPECT_EQ(resolved({}, system).integer("block"), 128);
  EXPECT_EQ(resolved({{"block", "256"}}, system).integer("block"), 256);
}

TEST(Resolve, TakesTheVariantsDefaultsBeforeThoseOfTheParameter) {
  const auto fast = [](DeviceClass device_class) {
    return resolve(spec(), "fast", on(device_class), {}, {}, {});
  };
  EXPECT_EQ(fast(DeviceClass::kCpu).integer("width"), 16);
  EXPECT_EQ(fast(DeviceClass::kGpu).integer("width"), 4);
  EXPECT_EQ(fast(DeviceClass::kCpu).integer("copies"), 1);
}

TEST(Resolve, TakesTunedValuesOfTheVariantAndTypeBeforeDefaultsOnly) {
  DeviceFacts facts = on(DeviceClass::kCpu);
  facts.tuned = {{.variant = "base", .data_type = {}, .created = "today", .parameters = {{"width", 2}}},
                 {.variant = "fast", .data_type = "float", .created = "today", .parameters = {{"width", 8}}}};
  const auto width = [&](const std::string& variant, const Texts& given,
                         const std::optional<Overrides>& system = {}) {
    return resolve(spec(), variant, facts, given, system, {}).integer("width");
  };
  EXPECT_EQ(width("base", {}), 2);
  EXPECT_EQ(width("base", {{"width", "1"}}), 1);
  EXPECT_EQ(
      width("base", {}, Overrides{.origin = "s", .banks = {}, .variant = {}, .parameters = {{"width", 4}}}),
      4);
  EXPECT_EQ(width("fast", {}), 16);  // its benchmark has no parameter data_type
}

TEST(Resolve, MakesTunedValuesSmallerUntilConstraintsHold) {
  DeviceFacts facts = on(DeviceClass::kCpu);
  facts.tuned = {{.variant = "base", .data_type = {}, .created = "today", .parameters = {{"width", 16}}}};
  EXPECT_EQ(resolve(spec(), "base", facts, {{"block", "40"}}, {}, {}).integer("width"), 8);
}

TEST(Resolve, RefusesMoreThanTheVariantTakes) {
  const auto fast = [](const std::string& block) {
    return resolve(spec(), "fast", on(DeviceClass::kCpu), {{"block", block}, {"width", "1"}}, {}, {});
  };
  EXPECT_EQ(fast("1024").integer("block"), 1024);
  const std::string message = message_of([&] { fast("1040"); });
  EXPECT_TRUE(mentions(message, "block = 1040")) << message;
  EXPECT_TRUE(mentions(message, "variant fast")) << message;
  EXPECT_EQ(resolved({{"block", "1040"}}).integer("block"), 1040) << "others do";
}

TEST(Resolve, TakesDefaultsByDeviceClassAndFpgaForTheEmulator) {
  const auto defaults = [](DeviceClass device_class) {
    return resolve(spec(), "base", on(device_class), {}, {}, {});
  };
  EXPECT_EQ(defaults(DeviceClass::kGpu).integer("block"), 32);
  EXPECT_EQ(defaults(DeviceClass::kFpga).integer("block"), 4096);
  EXPECT_EQ(defaults(DeviceClass::kEmulator).integer("block"), 4096);
  EXPECT_EQ(defaults(DeviceClass::kEmulator).integer("copies"), 2) << "unless it has one of its own";
}

TEST(Resolve, TakesVariantAndDefaultsForAnEmulatedFabric) {
  const KernelSpec fft = load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / "fft/kernel.toml");
  const auto found = [&](const std::map<std::string, std::string>& given, const std::string& variant = "") {
    Wanted wanted;
    wanted.variant = variant;
    wanted.parameters = given;
    const Resolved all = resolve(fft, on(DeviceClass::kCpu), wanted);
    return all.variant + ", " + all.parameters.text("scope");
  };
  EXPECT_EQ(found({}), "base, batched");
  EXPECT_EQ(found({{"transport", "host"}}), "base, batched");
  for (const char* transport : {"channels", "accl-udp", "accl-tcp", "accl-rdma"}) {
    EXPECT_EQ(found({{"transport", transport}}), "throughput, distributed");
    EXPECT_EQ(found({{"transport", transport}, {"scope", "batched"}}), "throughput, batched");
    EXPECT_EQ(found({{"transport", transport}}, "base"), "base, batched");
  }
}

TEST(Resolve, PutsTheDevicesCoresAndBanksForTheirNames) {
  EXPECT_EQ(resolved({}).integer("copies"), 6);
  EXPECT_EQ(resolve(spec(), "base", on(DeviceClass::kFpga), {}, {}, {}).integer("copies"), 4);
}

/// The spec, whose copies have this default on a CPU.
KernelSpec with_default(const std::string& expression) {
  std::string text = kText;
  text.replace(text.find("\"cores\""), 7, '"' + expression + '"');
  return parse_kernel_spec(text, "kernel.toml");
}

TEST(Resolve, TakesDefaultsThatFollowFromParametersBefore) {
  const KernelSpec follows = with_default("max(1, 2^(9 - width) / block)");
  const auto copies = [&](const Texts& given) {
    return resolve(follows, "base", on(DeviceClass::kCpu), given, {}, {}).integer("copies");
  };
  EXPECT_EQ(copies({}), 1) << "32 / 64";
  EXPECT_EQ(copies({{"width", "2"}}), 2);
  EXPECT_EQ(copies({{"width", "1"}, {"block", "8"}}), 32);
  EXPECT_EQ(copies({{"width", "1"}, {"copies", "5"}}), 5);
  EXPECT_EQ(resolve(follows, "base", on(DeviceClass::kCpu), {}, overrides({{"block", std::int64_t{4}}}), {})
                .integer("copies"),
            8)
      << "also of the system";
}

TEST(Resolve, TellsADefaultWithoutAValue) {
  const KernelSpec follows = with_default("8 / (width - 4)");
  const auto resolve_with = [&](const Texts& given) {
    return resolve(follows, "base", on(DeviceClass::kCpu), given, {}, {}).integer("copies");
  };
  EXPECT_EQ(resolve_with({{"width", "8"}}), 2);
  EXPECT_EQ(resolve_with({{"copies", "3"}}), 3) << "which is not needed then";
  const std::string message = message_of([&] { resolve_with({}); });
  EXPECT_TRUE(mentions(message, "copies") && mentions(message, "give --copies")) << message;
  EXPECT_EQ(resolve_with({{"width", "1"}}), 1) << "-3 is out of the range, whose nearest end is taken";
}

TEST(Resolve, TakesFlagsInConstraintsAsOneOrZero) {
  KernelSpec constrained = spec();
  constrained.constraints = {{"check == 0 || block == 1", "drop check"}};
  EXPECT_TRUE(mentions(message_of([&] { resolve(constrained, "base", on(DeviceClass::kCpu), {}, {}, {}); }),
                       "drop check"));
  EXPECT_NO_THROW(resolve(constrained, "base", on(DeviceClass::kCpu), {{"check", "false"}}, {}, {}));
}

TEST(Resolve, PutsTheNextSmallerAllowedNumberWhereOnlySomeAre) {
  KernelSpec listed = spec();
  for (ParameterSpec& parameter : listed.parameters) {
    if (parameter.name == "copies") parameter.values = {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}};
  }
  EXPECT_EQ(resolve(listed, "base", on(DeviceClass::kCpu), {}, {}, {}).integer("copies"), 4) << "of 6 cores";
}

TEST(Resolve, RefusesAValueThatTheVariantLacks) {
  const std::string message = message_of([] {
    (void)resolve(spec(), "fast", on(DeviceClass::kCpu), {{"kind", "half"}, {"width", "1"}}, {}, {});
  });
  EXPECT_TRUE(mentions(message, "the variant fast has no kind = half (--kind)")) << message;
  EXPECT_EQ(resolved({{"kind", "half"}}).text("kind"), "half") << "others do";
}

TEST(Resolve, KeepsDefaultsOfTheDeviceWithinTheirRange) {
  const auto copies = [](std::int64_t cores, const Texts& given = {}) {
    return resolve(spec(), "base", {.device_class = DeviceClass::kCpu, .cores = cores}, given, {}, {})
        .integer("copies");
  };
  for (const std::int64_t cores : {1, 2, 64}) EXPECT_EQ(copies(cores), cores);
  for (const std::int64_t cores : {65, 128, 384, 100000}) EXPECT_EQ(copies(cores), 64);
  EXPECT_EQ(copies(0), 1);
  EXPECT_TRUE(mentions(message_of([&] { copies(384, {{"copies", "65"}}); }), "from 1 to 64"));
  KernelSpec few = spec();
  few.variants.front().largest["copies"] = 8;
  EXPECT_EQ(
      resolve(few, "base", {.device_class = DeviceClass::kCpu, .cores = 65}, {}, {}, {}).integer("copies"),
      8);
}

TEST(Resolve, TakesTheSmallestOfTheValuesWhereAllAreTooLarge) {
  KernelSpec listed = spec();
  for (ParameterSpec& parameter : listed.parameters) {
    if (parameter.name != "copies") continue;
    parameter.minimum = parameter.maximum = std::nullopt;
    parameter.values = {std::int64_t{4}, std::int64_t{8}};
  }
  const DeviceFacts one{.device_class = DeviceClass::kCpu, .cores = 1};
  EXPECT_EQ(resolve(listed, "base", one, {}, {}, {}).integer("copies"), 4);
}

TEST(Resolve, MakesDefaultsOfTheDeviceSmallerUntilConstraintsHold) {
  KernelSpec constrained = spec();
  constrained.constraints = {{"block % copies == 0", "make block a multiple of copies"}};
  const DeviceFacts facts{.device_class = DeviceClass::kCpu, .cores = 63};
  const auto copies = [&](const Texts& given) {
    return resolve(constrained, "base", facts, given, {}, {}).integer("copies");
  };
  EXPECT_EQ(copies({}), 32) << "of a block of 64";
  EXPECT_EQ(copies({{"block", "60"}}), 60);
  const std::string message = message_of([&] { copies({{"copies", "63"}}); });
  EXPECT_TRUE(mentions(message, "copies = 63") && mentions(message, "multiple of copies")) << message;
  constrained.constraints = {{"copies > 70", "use more copies"}};
  EXPECT_TRUE(mentions(message_of([&] { copies({}); }), "use more copies")) << "no value can do it";
}

/// Of kText, with work-groups of `copies` items that hold a block each in local memory.
KernelSpec grouped() {
  KernelSpec found = spec();
  found.variants.front().work_group = {.work_items = "copies",
                                       .local_bytes = "block * copies * value_bytes",
                                       .shrink = {"copies", "block"},
                                       .on = {"gpu"}};
  for (ParameterSpec& parameter : found.parameters) {
    if (parameter.name == "copies") parameter.defaults = {{"", std::int64_t{32}}};
  }
  return found;
}

TEST(Resolve, MakesWorkGroupsFitTheDevice) {
  const auto on_gpu = [](std::optional<std::uint64_t> items, std::optional<std::uint64_t> bytes,
                         const Texts& given = {}, DeviceClass device_class = DeviceClass::kGpu) {
    const Parameters found = resolve(
        grouped(), "base",
        {.device_class = device_class, .most_work_items = items, .local_bytes = bytes, .device = "a GPU"},
        given, {}, {});
    return std::pair{found.integer("copies"), found.integer("block")};
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(on_gpu({}, {}), (Pair{32, 32})) << "nothing is known";
  EXPECT_EQ(on_gpu(1024, 65536), (Pair{32, 32}));
  EXPECT_EQ(on_gpu(10, 65536), (Pair{8, 32}));
  EXPECT_EQ(on_gpu(1, 65536), (Pair{1, 32}));
  EXPECT_EQ(on_gpu(1024, 1024), (Pair{8, 32}));
  EXPECT_EQ(on_gpu(1024, 1024, {{"copies", "16"}}), (Pair{16, 16}));
  EXPECT_EQ(on_gpu(1, 64), (Pair{1, 16})) << "and the next one after that";
  EXPECT_EQ(on_gpu(1, 64, {}, DeviceClass::kCpu), (Pair{32, 64})) << "which it says nothing of";
  const std::string items = message_of([&] { on_gpu(8, {}, {{"copies", "16"}}); });
  EXPECT_TRUE(mentions(items, "copies = 16") && mentions(items, "take 16 work-items") &&
              mentions(items, "a GPU has no more than 8") && mentions(items, "--copies"))
      << items;
  const std::string bytes = message_of([&] { on_gpu({}, 64, {{"copies", "16"}, {"block", "64"}}); });
  EXPECT_TRUE(mentions(bytes, "take 4096 bytes of local memory") && mentions(bytes, "--copies or --block"))
      << bytes;
}

TEST(Resolve, KeepsTypes) {
  const Parameters parameters = resolved({});
  EXPECT_EQ(parameters.text("kind"), "float");
  EXPECT_TRUE(parameters.flag("check"));
  EXPECT_EQ(parameters.number("share"), 1.0) << "TOML's 1 stands for 1.0";
  EXPECT_FALSE(resolved({{"check", "false"}}).flag("check"));
  EXPECT_EQ(resolved({{"share", "0.25"}}).number("share"), 0.25);
}

TEST(Resolve, ReadsPowersAndBinaryPrefixes) {
  for (const auto& [text, number] :
       std::vector<std::pair<const char*, std::int64_t>>{{"4096", 4096},
                                                         {"2^20", 1 << 20},
                                                         {"4Ki", 4096},
                                                         {"4Mi", 4 << 20},
                                                         {"1Gi", 1 << 30},
                                                         {"2^40", std::int64_t{1} << 40}}) {
    EXPECT_EQ(resolved({{"block", text}}).integer("block"), number) << text;
  }
}

TEST(Resolve, RefusesWhatIsNoWholeNumber) {
  for (const char* text : {"", "x", "4k", "4 Ki", "4Ti", "2^", "2^63", "2^-1", "3^4", "1e3", "4.0", "0x10",
                           " 4", "4 ", "99999999999999999999", "9223372036854775807Gi", "-1Ki"}) {
    const std::string message = message_of([&] { resolved({{"block", text}}); });
    EXPECT_TRUE(mentions(message, "--block") && mentions(message, "whole number")) << message;
  }
}

TEST(Resolve, NamesTheParameterThatIsOutsideItsRangeOrValues) {
  for (const auto& [name, text, allowed] :
       std::vector<std::array<const char*, 3>>{{"width", "3", "1, 2, 4, 8, 16"},
                                               {"copies", "0", "from 1 to 64"},
                                               {"copies", "65", "from 1 to 64"},
                                               {"share", "1.5", "from 0 to 1"},
                                               {"share", "nan", "from 0 to 1"},
                                               {"share", "inf", "from 0 to 1"},
                                               {"kind", "double", "half, float"},
                                               {"check", "yes", "true or false"}}) {
    const std::string message = message_of([&, n = name, t = text] { resolved({{n, t}}); });
    EXPECT_TRUE(mentions(message, name) && mentions(message, allowed)) << message;
  }
}

TEST(Resolve, ChecksTheSystemToo) {
  EXPECT_TRUE(mentions(message_of([] {
                         resolved({}, overrides({{"width", std::int64_t{3}}}));
                       }),
                       "over.toml"));
  EXPECT_TRUE(mentions(message_of([] { resolved({}, overrides({{"width", "4"}})); }), "width"));
  EXPECT_TRUE(mentions(message_of([] { resolved({}, overrides({{"lanes", std::int64_t{3}}})); }), "lanes"));
}

TEST(Resolve, ChecksConstraintsAndSaysTheValues) {
  const std::string message = message_of([] { resolved({{"block", "66"}}); });
  for (const char* part : {"block = 66", "width = 4", "make block a multiple of width"}) {
    EXPECT_TRUE(mentions(message, part)) << message;
  }
}

TEST(Resolve, TellsAConstraintThatCannotBeEvaluated) {
  for (const char* expression : {"block %", "blocks > 1", "block > (", "sin(", "", "kind == 1"}) {
    KernelSpec broken = spec();
    broken.constraints = {{expression, "m"}};
    const std::string message =
        message_of([&] { resolve(broken, "base", on(DeviceClass::kCpu), {}, {}, {}); });
    EXPECT_TRUE(mentions(message, "kernel.toml")) << message;
  }
}

// muparser has functions of these names and refuses them as variables.
TEST(Resolve, TellsAParameterWhoseNameCannotStandInAConstraint) {
  for (const char* name : {"sin", "my width", ""}) {
    KernelSpec odd = spec();
    odd.parameters.front().name = name;
    message_of([&] { resolve(odd, "base", on(DeviceClass::kCpu), {}, {}, {}); });
  }
}

TEST(Resolve, TellsAMissingDefault) {
  KernelSpec incomplete = spec();
  incomplete.parameters.front().defaults = {{"gpu", std::int64_t{1}}};
  EXPECT_NO_THROW(resolve(incomplete, "base", on(DeviceClass::kCpu), {{"width", "4"}}, {}, {}));
  const std::string message =
      message_of([&] { resolve(incomplete, "base", on(DeviceClass::kCpu), {}, {}, {}); });
  EXPECT_TRUE(mentions(message, "width") && mentions(message, "cpu")) << message;
}

TEST(Resolve, TakesBuildParametersFromTheSidecar) {
  const Parameters parameters =
      resolved({{"copies", "3"}}, overrides({{"width", std::int64_t{2}}}), built(8));
  EXPECT_EQ(parameters.integer("width"), 8);
  EXPECT_EQ(parameters.integer("copies"), 3);
  EXPECT_EQ(resolved({{"width", "8"}}, {}, built(8)).integer("width"), 8) << "agreeing is no conflict";
}

TEST(Resolve, RefusesACommandLineThatDisagreesWithTheSidecarByName) {
  const std::string message = message_of([] { resolved({{"width", "4"}}, {}, built(8)); });
  for (const char* part : {"width = 8", "says 4", "over.toml", "--width"}) {
    EXPECT_TRUE(mentions(message, part)) << message;
  }
}

TEST(Resolve, RefusesASidecarThatIsIncompleteOrUnknown) {
  Overrides incomplete = built(8);
  incomplete.parameters.erase("kind");
  EXPECT_TRUE(mentions(message_of([&] { resolved({}, {}, incomplete); }), "kind"));
  Overrides unknown = built(8);
  unknown.parameters["lanes"] = true;
  EXPECT_TRUE(mentions(message_of([&] { resolved({}, {}, unknown); }), "lanes"));
}

TEST(Resolve, RefusesAnUnknownVariant) {
  message_of([] { resolve(spec(), "slow", on(DeviceClass::kCpu), {}, {}, {}); });
}

TEST(BuildDefinitions, AreTheBuildParametersInCapitals) {
  EXPECT_EQ(build_definitions(spec(), resolved({}), DeviceClass::kFpga),
            (Texts{{"WIDTH", "4"}, {"BLOCK", "64"}, {"KIND", "float"}, {"CHECK", "1"}}));
  EXPECT_EQ(build_definitions(spec(), resolved({{"check", "false"}}), DeviceClass::kCpu).at("CHECK"), "0");
  EXPECT_EQ(build_definitions(spec(), resolved({}), DeviceClass::kCpu).count("FM_CPU"), 1U);
  EXPECT_EQ(build_definitions(spec(), resolved({}), DeviceClass::kEmulator).count("FM_EMULATOR"), 1U);
}

TEST(BuildDefinitions, SwitchOnTheExtensionOfTheDataType) {
  const KernelSpec stream =
      load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / "stream" / "kernel.toml");
  const auto definitions = [&](const char* type) {
    return build_definitions(stream, resolve(stream, "base", {}, {{"data_type", type}}, {}, {}), {});
  };
  EXPECT_TRUE(definitions("half").contains("FM_NEEDS_HALF"));
  EXPECT_TRUE(definitions("double").contains("FM_NEEDS_DOUBLE"));
  EXPECT_FALSE(definitions("float").contains("FM_NEEDS_DOUBLE"));
  EXPECT_FALSE(definitions("float").contains("SIZE")) << "a run parameter needs no build";
}

}  // namespace

}  // namespace fabricmark::runtime
