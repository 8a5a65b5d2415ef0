#include "runtime/kernel_spec.hpp"

#include "base/digest.hpp"
#include "device/device.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

const std::string kSmallest = R"(benchmark = "b"
summary = "s"
[variants.base]
file = "f.cl"
entry_points = ["k"]
[parameters.p]
type = "int"
stage = "run"
default = 1
meaning = "m"
[[constraints]]
expression = "p > 0"
meaning = "make p positive"
)";

KernelSpec parse(const std::string& text) { return parse_kernel_spec(text, "folder/kernel.toml"); }

std::string stream_text() {
  return test::content_of(std::filesystem::path(FABRICMARK_TEST_KERNELS) / "stream" / "kernel.toml");
}

TEST(KernelSpec, ReadsAllThatTheSmallestFileSays) {
  const KernelSpec spec = parse(kSmallest);
  EXPECT_EQ(spec.benchmark, "b");
  EXPECT_EQ(spec.summary, "s");
  ASSERT_EQ(spec.variants.size(), 1U);
  EXPECT_EQ(spec.variant("base").file, "f.cl");
  EXPECT_EQ(spec.variant("base").entry_points, (std::vector<std::string>{"k"}));
  ASSERT_NE(spec.find("p"), nullptr);
  EXPECT_EQ(spec.find("p")->stage, ParameterSpec::Stage::kRun);
  EXPECT_EQ(spec.find("q"), nullptr);
  ASSERT_EQ(spec.constraints.size(), 1U);
  EXPECT_EQ(spec.constraints[0].expression, "p > 0");
}

TEST(KernelSpec, TellsTheArgumentsOfAnEntryPoint) {
  const std::string text =
      "[\"k\"]\narguments = { k = [{ name = \"m\", kind = \"buffer\", access = \"read\" }, "
      "{ name = \"r\", kind = \"real\" }] }";
  std::string whole = kSmallest;
  whole.replace(whole.find("[\"k\"]"), 5, text);
  const KernelSpec spec = parse(whole);
  using Kind = device::ArgumentKind;
  for (const auto& [type, kind] : {std::pair{"float", Kind::kFloat}, std::pair{"double", Kind::kDouble}}) {
    Parameters parameters;
    parameters.set("data_type", std::string(type));
    const device::EntryPoint entry = entry_point(spec.variant("base"), "k", parameters);
    ASSERT_EQ(entry.arguments.size(), 2U);
    EXPECT_EQ(entry.arguments[0].name, "m");
    EXPECT_EQ(entry.arguments[0].kind, Kind::kBuffer);
    EXPECT_EQ(entry.arguments[1].kind, kind);
  }
}

TEST(KernelSpec, KeepsTheOrderOfTheFile) {
  std::string text = kSmallest.substr(0, kSmallest.find("[[constraints]]"));
  for (const char* name : {"z", "a", "m"}) {
    text += std::string("[parameters.") + name + "]\ntype='bool'\nstage='build'\ndefault=true\nmeaning='m'\n";
  }
  std::string order;
  for (const ParameterSpec& parameter : parse(text).parameters) order += parameter.name;
  EXPECT_EQ(order, "pzam");
}

TEST(KernelSpec, OfStreamIsReadWhole) {
  const KernelSpec spec =
      load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / "stream" / "kernel.toml");
  EXPECT_EQ(spec.folder.filename(), "stream");
  for (const char* name : {"size", "data_type", "replications", "vector_width", "unroll", "buffer_size"}) {
    EXPECT_NE(spec.find(name), nullptr) << name;
  }
  for (const char* name : {"base", "throughput"}) {
    EXPECT_TRUE(std::filesystem::exists(spec.folder / spec.variant(name).file)) << name;
  }
}

TEST(KernelSpec, TakesWhatScalingHasToKnow) {
  const std::string more = "default = 1\nscope = 'total'\ndimensions = 2\nrounded_to = 'q'";
  std::string text = kSmallest;
  text.replace(text.find("default = 1"), std::string("default = 1").size(), more);
  text += "[parameters.q]\ntype = 'int'\nstage = 'run'\ndefault = 1\nmeaning = 'm'\n";
  EXPECT_EQ(parse(text).parameters.size(), 2U);
  text.replace(text.rfind("'int'"), 5, "'bool'");
  EXPECT_TRUE(mentions(message_of([&] { parse(text); }), "parameters.p.rounded_to"));
}

TEST(KernelSpec, NamesTheVariantsThatThereAre) {
  const std::string message = message_of([] { (void)parse(kSmallest).variant("fast"); });
  EXPECT_TRUE(mentions(message, "'fast'") && mentions(message, "--variant base")) << message;
}

struct Mistake {
  const char* part;         ///< of the smallest file
  const char* replacement;  ///< what stands there instead
  const char* key;          ///< what the message must name
};

class KernelSpecMistake : public testing::TestWithParam<Mistake> {};

TEST_P(KernelSpecMistake, IsRefusedWithFileAndKey) {
  const Mistake& mistake = GetParam();
  std::string text = kSmallest;
  const std::size_t start = text.find(mistake.part);
  ASSERT_NE(start, std::string::npos);
  text.replace(start, std::string(mistake.part).size(), mistake.replacement);
  const std::string message = message_of([&] { parse(text); });
  EXPECT_TRUE(mentions(message, "folder/kernel.toml")) << message;
  EXPECT_TRUE(mentions(message, mistake.key)) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Each, KernelSpecMistake,
    testing::Values(
        Mistake{"benchmark = \"b\"", "benchmark = ", "line 1"},
        Mistake{"benchmark = \"b\"\n", "", "benchmark"},
        Mistake{"benchmark = \"b\"", "benchmark = \"\"", "benchmark"},
        Mistake{"benchmark = \"b\"", "benchmark = 1", "benchmark"},
        Mistake{"benchmark = \"b\"", "benchmark = \"b\"\nbenchmark = \"c\"", "line 2"},
        Mistake{"summary", "sumary", "sumary"}, Mistake{"summary = \"s\"\n", "", "summary"},
        Mistake{"[variants.base]\nfile = \"f.cl\"\nentry_points = [\"k\"]\n", "", "variants"},
        Mistake{"[variants.base]\nfile = \"f.cl\"\nentry_points = [\"k\"]\n", "variants = {}\n", "variants"},
        Mistake{"[variants.base]\nfile = \"f.cl\"\nentry_points = [\"k\"]\n", "variants = { base = 1 }\n",
                "variants.base"},
        Mistake{"file =", "fil =", "variants.base.fil"},
        Mistake{"file = \"f.cl\"\n", "", "variants.base.file"},
        Mistake{"entry_points = [\"k\"]\n", "", "variants.base.entry_points"},
        Mistake{"[\"k\"]", "[]", "variants.base.entry_points"},
        Mistake{"[\"k\"]", "[1]", "variants.base.entry_points"},
        Mistake{"[\"k\"]", "[\"k\"]\nreplicated = [\"j\"]", "variants.base.replicated"},
        Mistake{"[\"k\"]", "[\"k\"]\nreplicated = []", "variants.base.replicated"},
        Mistake{"[\"k\"]", "[\"k\"]\nreplicated = [\"k\"]", "parameters.replications"},
        Mistake{"[\"k\"]", "[\"k\"]\nlargest = { p = \"1\" }", "variants.base.largest.p"},
        Mistake{"[\"k\"]", "[\"k\"]\ndefaults = 1", "variants.base.defaults"},
        Mistake{"[\"k\"]", "[\"k\"]\ndefaults = { p = { tpu = 1 } }", "variants.base.defaults.p.tpu"},
        Mistake{"[\"k\"]", "[\"k\"]\nover_fabric = 1", "variants.base.over_fabric"},
        Mistake{"[\"k\"]", "[\"k\"]\narguments = 1", "variants.base.arguments"},
        Mistake{"[\"k\"]", "[\"k\"]\narguments = { j = [] }", "variants.base.arguments.j"},
        Mistake{"[\"k\"]", "[\"k\"]\narguments = { k = 1 }", "variants.base.arguments.k"},
        Mistake{"[\"k\"]", "[\"k\"]\narguments = { k = [1] }", "variants.base.arguments.k"},
        Mistake{"[\"k\"]", "[\"k\"]\narguments = { k = [{ kind = \"uint\" }] }",
                "variants.base.arguments.k.name"},
        Mistake{"[\"k\"]",
                "[\"k\"]\narguments = { k = [{ name = \"n\", kind = \"buffer\", bytes = \"4 * m\" }] }",
                "variants.base.arguments.k.n.bytes"},
        Mistake{"[\"k\"]",
                "[\"k\"]\narguments = { k = [{ name = \"n\", kind = \"buffer\", bytes = { tpu = 4 } }] }",
                "variants.base.arguments.k.bytes"},
        Mistake{"[\"k\"]",
                "[\"k\"]\narguments = { k = [{ name = \"n\", kind = \"buffer\", buffers = \"ceil(\" }] }",
                "variants.base.arguments.k.n.buffers"},
        Mistake{"[\"k\"]", "[\"k\"]\narguments = { k = [{ name = \"n\" }] }",
                "variants.base.arguments.k.kind"},
        Mistake{"[\"k\"]", "[\"k\"]\narguments = { k = [{ name = \"n\", kind = \"int\" }] }",
                "variants.base.arguments.k.kind"},
        Mistake{"type = \"int\"\n", "", "parameters.p.type"},
        Mistake{"type = \"int\"", "type = \"integer\"", "parameters.p.type"},
        Mistake{"stage = \"run\"\n", "", "parameters.p.stage"},
        Mistake{"stage = \"run\"", "stage = \"later\"", "parameters.p.stage"},
        Mistake{"default = 1\n", "", "parameters.p.default"},
        Mistake{"default = 1", "default = []", "parameters.p.default"},
        Mistake{"default = 1", "default = {}", "parameters.p.default"},
        Mistake{"default = 1", "default = { tpu = 1 }", "parameters.p.default.tpu"},
        Mistake{"default = 1", "default = { cpu = [1] }", "parameters.p.default.cpu"},
        Mistake{"default = 1", "default = 2026-11-21", "parameters.p.default"},
        Mistake{"default = 1", "default = \"four\"", "parameters.p.default \"four\""},
        Mistake{"default = 1", "default = \"p + 1\"", "parameters.p.default"},
        Mistake{"default = 1", "default = { cpu = 1, gpu = \"2 *\\n\" }", "parameters.p.default.gpu"},
        Mistake{"[\"k\"]", "[\"k\"]\ndefaults = { p = \"-1\" }", "variants.base.defaults.p"},
        Mistake{"[\"k\"]", "[\"k\"]\nover_fabric = { p = \"-1\" }", "variants.base.over_fabric.p"},
        Mistake{"default = 1", "default = 1\nrange = 1", "parameters.p.range"},
        Mistake{"default = 1", "default = 1\nrange = [1]", "parameters.p.range"},
        Mistake{"default = 1", "default = 1\nrange = [1, \"2\"]", "parameters.p.range"},
        Mistake{"default = 1", "default = 1\nvalues = []", "parameters.p.values"},
        Mistake{"default = 1", "default = 1\nvalues = 1", "parameters.p.values"},
        Mistake{"default = 1", "default = 1\nvalues = [[1]]", "parameters.p.values"},
        Mistake{"default = 1", "default = 1\nunit = 1", "parameters.p.unit"},
        Mistake{"default = 1", "default = 1\nlimit = 1", "parameters.p.limit"},
        Mistake{"default = 1", "default = 1\nscope = \"all\"", "parameters.p.scope"},
        Mistake{"default = 1", "default = 1\ndimensions = 4", "parameters.p.dimensions"},
        Mistake{"default = 1", "default = 1\ndimensions = 2.0", "parameters.p.dimensions"},
        Mistake{"default = 1", "default = 1\nrounded_to = \"q\"", "parameters.p.rounded_to"},
        Mistake{"default = 1", "default = 1\nrounded_to = \"p\"", "parameters.p.rounded_to"},
        Mistake{"default = 1", "default = true", "parameters.p.default"},
        Mistake{"default = 1", "default = 1.5", "parameters.p.default"},
        Mistake{"default = 1", "default = { cpu = 3 }\nvalues = [1, 2]", "parameters.p.default.cpu"},
        Mistake{"default = 1", "default = 3\nrange = [1, 2]", "parameters.p.default"},
        Mistake{"default = 1", "default = 1\nrange = [9, 1]", "parameters.p.range"},
        Mistake{"default = 1", "default = 1\nrange = [nan, 1]", "parameters.p.range"},
        Mistake{"default = 1", "default = 1\nrange = [0, 1]\nvalues = [1]", "parameters.p.range"},
        Mistake{"default = 1", "default = 1\nvalues = [1, 2.5]", "parameters.p.values"},
        Mistake{"type = \"int\"", "type = \"bool\"\ndimensions = 2", "parameters.p.type"},
        Mistake{"[\"k\"]", "[\"k\"]\ndefaults = { q = 1 }", "variants.base.defaults.q"},
        Mistake{"[\"k\"]", "[\"k\"]\ndefaults = { p = { cpu = 1.5 } }", "variants.base.defaults.p.cpu"},
        Mistake{"[\"k\"]", "[\"k\"]\nlargest = { q = 1 }", "variants.base.largest.q"},
        Mistake{"[\"k\"]\n[parameters.p]", "[\"k\"]\nlargest = { p = 3 }\n[parameters.p]\nrange = [0, 2]",
                "variants.base.largest"},
        Mistake{"[\"k\"]", "[\"k\"]\nlacks = { q = [\"1\"] }", "variants.base.lacks.q"},
        Mistake{"[\"k\"]", "[\"k\"]\nlacks = { p = \"1\" }", "variants.base.lacks.p"},
        Mistake{"[\"k\"]", "[\"k\"]\nlacks = { p = [\"1\"] }", "variants.base.lacks.p"},
        Mistake{"[\"k\"]", "[\"k\"]\ntuned = 1", "variants.base.tuned"},
        Mistake{"[\"k\"]", "[\"k\"]\ntuned = { p = { fpga = [1, 2] } }", "variants.base.tuned.p.fpga"},
        Mistake{"[\"k\"]", "[\"k\"]\ntuned = { p = { cpu = [1] } }", "variants.base.tuned.p.cpu"},
        Mistake{"[\"k\"]", "[\"k\"]\ntuned = { q = { cpu = [1, 2] } }", "variants.base.tuned.q"},
        Mistake{"[\"k\"]", "[\"k\"]\ntuned = { p = { cpu = [1, \"x\"] } }", "variants.base.tuned.p"},
        Mistake{"[\"k\"]", "[\"k\"]\ntuned_at = { q = 1 }", "variants.base.tuned_at.q"},
        Mistake{"[\"k\"]", "[\"k\"]\nwork_group = 1", "variants.base.work_group"},
        Mistake{"[\"k\"]", "[\"k\"]\nwork_group = { shrink = [\"p\"] }",
                "variants.base.work_group.work_items"},
        Mistake{"[\"k\"]", "[\"k\"]\nwork_group = { work_items = \"p\" }", "variants.base.work_group.shrink"},
        Mistake{"[\"k\"]", "[\"k\"]\nwork_group = { work_items = \"q\", shrink = [\"p\"] }",
                "variants.base.work_group.work_items"},
        Mistake{"[\"k\"]", "[\"k\"]\nwork_group = { local_bytes = \"p +\", shrink = [\"p\"] }",
                "variants.base.work_group.local_bytes"},
        Mistake{"[\"k\"]", "[\"k\"]\nwork_group = { work_items = \"p\", shrink = [\"q\"] }",
                "variants.base.work_group.shrink"},
        Mistake{"[\"k\"]", "[\"k\"]\nwork_group = { work_items = \"p\", shrink = [\"p\"], on = [\"tpu\"] }",
                "variants.base.work_group.on"},
        Mistake{"[\"k\"]", "[\"k\"]\nstyle = 1", "variants.base.style"},
        Mistake{"benchmark = \"b\"", "benchmark = \"B b\"", "benchmark"},
        Mistake{"[parameters.p]", "[parameters.\"p-q\"]", "parameters.p-q"},
        Mistake{"expression = \"p > 0\"", "expression = \"q > 0\"", "q is no number"},
        Mistake{"expression = \"p > 0\"", "expression = \"p >\"", "p >"},
        Mistake{"meaning = \"m\"\n", "", "parameters.p.meaning"},
        Mistake{"[[constraints]]", "[constraints]", "constraints"},
        Mistake{"expression = \"p > 0\"\n", "", "constraints.expression"},
        Mistake{"meaning = \"make p positive\"\n", "", "constraints.meaning"},
        Mistake{"expression = \"p > 0\"", "expression = \"p > 0\"\nwhy = 1", "constraints.why"}));

TEST(KernelSpec, NamesAFileThatCannotBeRead) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "kernel.toml";
  EXPECT_TRUE(mentions(message_of([&] { load_kernel_spec(file); }), file.string()));
  EXPECT_TRUE(mentions(message_of([&] { load_kernel_spec(folder.path()); }), folder.path().string()));
}

/// A folder of kernels, with a file that others are like.
class LikeAnother : public testing::Test {
 protected:
  void SetUp() override {
    write("common/many", R"([quantities]
all = "2"
[variants.base]
file = "f.cl"
entry_points = ["k"]
[parameters.p]
type = "int"
stage = "run"
default = 1
meaning = "of both"
[parameters.q]
type = "int"
range = [1, 9]
stage = "run"
default = 2
meaning = "of the other"
[[constraints]]
expression = "q > p"
meaning = "make q greater"
)");
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(folder_.path() / name);
    std::ofstream(folder_.path() / name / "kernel.toml") << text;
  }
  KernelSpec read(const std::string& more, const std::string& like = "common/many") const {
    write("own", "benchmark = \"b\"\nsummary = \"s\"\nlike = \"" + like + "\"\n" + more);
    return load_kernel_spec(folder_.path() / "own" / "kernel.toml");
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(LikeAnother, FillsInWhatAFileHasNot) {
  const KernelSpec spec = read("");
  EXPECT_EQ(spec.benchmark, "b");
  EXPECT_EQ(spec.variant("base").file, "../common/many/f.cl");
  ASSERT_NE(spec.find("q"), nullptr);
  EXPECT_EQ(spec.find("q")->meaning, "of the other");
  EXPECT_EQ(spec.constraints.size(), 1U);
}

TEST_F(LikeAnother, KeepsWhatAFileHas) {
  const KernelSpec spec = read("[parameters.q]\nmeaning = \"own\"\n[variants.base]\nfile = \"g.cl\"\n");
  EXPECT_EQ(spec.find("q")->meaning, "own");
  EXPECT_EQ(spec.find("q")->type, ParameterSpec::Type::kInteger) << "the rest of a table is filled in";
  EXPECT_EQ(spec.variant("base").file, "g.cl");
  EXPECT_EQ(spec.find("p")->meaning, "of both");
}

TEST_F(LikeAnother, HasTheListsOfBoth) {
  const KernelSpec spec = read("[[constraints]]\nexpression = \"p > 0\"\nmeaning = \"make p positive\"\n");
  ASSERT_EQ(spec.constraints.size(), 2U);
  EXPECT_EQ(spec.constraints[0].expression, "p > 0");
  EXPECT_EQ(spec.constraints[1].expression, "q > p");
}

TEST_F(LikeAnother, IsRefusedByTheNameOfTheFileThatIsNotThere) {
  const std::string message = message_of([&] { read("", "common/none"); });
  EXPECT_TRUE(mentions(message, "common/none/kernel.toml")) << message;
  const std::string of_a_number = message_of([&] { read("[quantities]\nall = 1\n", ""); });
  EXPECT_TRUE(mentions(of_a_number, "like is missing or wrong")) << of_a_number;
}

TEST(KernelSpec, SurvivesRandomChangesOfItsText) {
  constexpr int kTexts = test::kMutations;
  const std::string original = stream_text();
  std::mt19937 random(20261121);
  int refused = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = test::mutated(original, random);
    try {
      parse(text);
    } catch (const Error& error) {
      ++refused;
      const std::string message = error.what();
      ASSERT_TRUE(mentions(message, "folder/kernel.toml") && mentions(message, "; ")) << message;
      ASSERT_EQ(message.find('\n'), std::string::npos) << message;
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << text;
    }
  }
  EXPECT_GT(refused, kTexts / 4) << "the changes change too little";
  EXPECT_LT(refused, kTexts) << "the changes change too much";
}

std::vector<std::string> names(const std::vector<device::EntryPoint>& entries) {
  std::vector<std::string> found;
  std::ranges::transform(entries, std::back_inserter(found), &device::EntryPoint::name);
  return found;
}

KernelSpec shipped_spec(const std::string& benchmark) {
  return load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / benchmark / "kernel.toml");
}

TEST(BuiltEntryPoints, AreThoseOfEachReplicaWhereTheyHaveTheirOwn) {
  using device::Replicas;
  using Names = std::vector<std::string>;
  const VariantSpec hpl = shipped_spec("hpl").variant("base");
  Parameters parameters;
  parameters.set("replications", std::int64_t{2});
  const auto built = [&](Replicas replicas) { return names(built_entry_points(hpl, parameters, replicas)); };
  EXPECT_EQ(built(Replicas::kOneEntry), (Names{"lu", "left", "top", "inner"}));
  EXPECT_EQ(built(Replicas::kEntries), (Names{"lu", "left", "top", "inner_0", "inner_1"}));
  EXPECT_EQ(replicas_in_source(hpl, parameters, Replicas::kEntries), 2);
  EXPECT_EQ(replicas_in_source(hpl, parameters, Replicas::kComputeUnits), 1);
  EXPECT_EQ(replicas_in_source(shipped_spec("hpl").variant("throughput"), parameters, Replicas::kEntries), 1);
  const device::EntryPoint inner = entry_point(hpl, "inner", parameters);
  EXPECT_EQ(device::replica_names(inner, Replicas::kComputeUnits, 2),
            (Names{"inner:{inner_1}", "inner:{inner_2}"}));
}

TEST(BuiltFor, MakesReplicationsAParameterOfTheBuildWhereReplicasAreBuiltIn) {
  using Stage = ParameterSpec::Stage;
  const auto stage = [](const std::string& variant, device::Replicas replicas) {
    return built_for(shipped_spec("stream"), variant, replicas).find("replications")->stage;
  };
  EXPECT_EQ(stage("base", device::Replicas::kOneEntry), Stage::kRun);
  EXPECT_EQ(stage("base", device::Replicas::kEntries), Stage::kBuild);
  EXPECT_EQ(stage("base", device::Replicas::kComputeUnits), Stage::kBuild);
  EXPECT_EQ(stage("throughput", device::Replicas::kEntries), Stage::kRun);
}

TEST(ReplicasOf, AreThoseThatTheDeviceNeeds) {
  device::DeviceInfo info;
  EXPECT_EQ(device::replicas_of(info), device::Replicas::kOneEntry);
  info.device_class = device::DeviceClass::kEmulator;
  EXPECT_EQ(device::replicas_of(info), device::Replicas::kEntries);
  info.device_class = device::DeviceClass::kFpga;
  info.platform = "Intel(R) FPGA SDK for OpenCL(TM)";
  EXPECT_EQ(device::replicas_of(info), device::Replicas::kEntries);
  info.platform = "Xilinx";
  EXPECT_EQ(device::replicas_of(info), device::Replicas::kComputeUnits);
  setenv("FABRICMARK_REPLICAS", "one-entry", 1);
  EXPECT_EQ(device::replicas_of(info), device::Replicas::kOneEntry);
  setenv("FABRICMARK_REPLICAS", "two", 1);
  EXPECT_TRUE(mentions(message_of([&] { device::replicas_of(info); }), "entries or compute-units"));
  unsetenv("FABRICMARK_REPLICAS");
}

class Sidecar : public testing::Test {
 protected:
  Sidecar() : bitstream_(folder_.write("k.bin", "contents")) {}
  std::string refused(const std::string& text) {
    (void)folder_.write("k.bin.toml", text);
    return message_of([&] { load_sidecar(bitstream_, parse(kSmallest)); });
  }
  test::TemporaryFolder folder_;
  std::filesystem::path bitstream_;
};

TEST_F(Sidecar, IsReadBackAsItWasWritten) {
  const KernelSpec spec =
      load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / "stream" / "kernel.toml");
  const Parameters parameters = resolve(spec, "base", {}, {{"vector_width", "8"}}, {}, {});
  (void)folder_.write("k.bin.toml", sidecar_text(spec, "base", parameters, "contents"));
  const Overrides sidecar = load_sidecar(bitstream_, spec);
  EXPECT_EQ(sidecar.variant, "base");
  EXPECT_EQ(std::get<std::int64_t>(sidecar.parameters.at("vector_width")), 8);
  EXPECT_EQ(std::get<std::string>(sidecar.parameters.at("data_type")), "float");
  EXPECT_FALSE(sidecar.parameters.contains("size")) << "only what the build fixes";
}

TEST_F(Sidecar, HoldsTheReplicasThatAreBuiltIn) {
  const KernelSpec spec = built_for(shipped_spec("stream"), "base", device::Replicas::kEntries);
  const auto resolved = [&](const char* copies, const std::optional<Overrides>& sidecar) {
    return resolve(spec, "base", {}, {{"replications", copies}}, {}, sidecar);
  };
  (void)folder_.write("k.bin.toml", sidecar_text(spec, "base", resolved("3", {}), "contents"));
  const Overrides sidecar = load_sidecar(bitstream_, spec);
  EXPECT_EQ(resolved("3", sidecar).integer("replications"), 3);
  EXPECT_EQ(resolve(spec, "base", {}, {}, {}, sidecar).integer("replications"), 3);
  const std::string message = message_of([&] { resolved("2", sidecar); });
  EXPECT_TRUE(mentions(message, "built with replications = 3") && mentions(message, "says 2")) << message;
}

TEST_F(Sidecar, MayDoWithoutADigest) {
  (void)folder_.write("k.bin.toml", "benchmark = 'b'\nvariant = 'base'\n[parameters]\n");
  EXPECT_EQ(load_sidecar(bitstream_, parse(kSmallest)).variant, "base");
}

TEST_F(Sidecar, TellsADamagedBitstream) {
  const std::string digest = content_digest("other contents");
  const std::string message =
      refused("benchmark = 'b'\nvariant = 'base'\ndigest = '" + digest + "'\n[parameters]\n");
  EXPECT_TRUE(mentions(message, "k.bin") && mentions(message, "damaged")) << message;
}

TEST_F(Sidecar, IsRefusedWhenMissingOrOfAnotherBenchmarkOrWrong) {
  EXPECT_TRUE(mentions(message_of([&] { load_sidecar(bitstream_, parse(kSmallest)); }), "k.bin.toml"));
  EXPECT_TRUE(mentions(refused("benchmark = 'fft'\nvariant = 'base'\n[parameters]\n"), "fft"));
  EXPECT_TRUE(mentions(refused("benchmark = 'b'\n[parameters]\n"), "variant"));
  EXPECT_TRUE(mentions(refused("benchmark = 'b'\nvariant = 'base'\n"), "parameters"));
  EXPECT_TRUE(mentions(refused("benchmark = 'b'\nvariant = 'base'\nspeed = 1\n[parameters]\n"), "speed"));
}

TEST(KernelsFolder, FollowsTheEnvironment) {
  setenv("FABRICMARK_KERNELS", "/elsewhere", 1);
  EXPECT_EQ(kernels_folder(), "/elsewhere");
  unsetenv("FABRICMARK_KERNELS");
  EXPECT_TRUE(std::filesystem::exists(kernels_folder() / "stream" / "kernel.toml"));
}

}  // namespace

}  // namespace fabricmark::runtime
