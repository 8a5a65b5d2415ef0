#include "runtime/system_file.hpp"

#include <nlohmann/json.hpp>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using Json = nlohmann::json;
using test::mentions;
using test::message_of;

KernelSpec spec(const std::string& benchmark) {
  return load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / benchmark / "kernel.toml");
}

Json bitstream(const std::string& id, const std::string& benchmark, const Json& parameters) {
  return {{"id", id},
          {"device", "ring"},
          {"benchmark", benchmark},
          {"variant", "base"},
          {"transport", "none"},
          {"parameters", parameters},
          {"values", Json::object()},
          {"curves", Json::object()}};
}

/// As `fabricmark systems export` writes it, with what the programs do not read left out.
Json system() {
  Json made{{"schema", "fabricmark-exported-system/1"}, {"name", "mine"}};
  for (const auto& [id, banks] : {std::pair("star", 4), std::pair("ring", 32)}) {
    made["devices"].push_back(
        {{"id", id}, {"values", {{"banks", {{"value", banks}, {"kind", "published"}}}}}});
  }
  made["bitstreams"] = {bitstream("a/stream", "stream", {{"vector_width", 8}, {"data_type", "float"}}),
                        bitstream("a/gemm", "gemm", {{"block_size", 256}}),
                        bitstream("b/gemm", "gemm", {{"block_size", 512}}),
                        bitstream("a/ptrans", "ptrans", {{"block_size", 64}}),
                        bitstream("a/b_eff", "b_eff", {{"channel_width", 8}})};
  made["bitstreams"][3]["transport"] = "host";
  made["bitstreams"][4]["variant"] = "channels";
  return made;
}

class SystemFile : public testing::Test {
 protected:
  SystemChoice load(const std::string& benchmark, const std::string& id = "",
                    const std::string& variant = "") {
    return load_text(made_.dump(), benchmark, id, variant);
  }
  SystemChoice load_text(const std::string& text, const std::string& benchmark, const std::string& id = "",
                         const std::string& variant = "") {
    return load_system(folder_.write("system.json", text), spec(benchmark),
                       {.id = id, .variant = variant, .transport = {}});
  }
  std::string refused(const std::string& benchmark = "stream", const std::string& id = "") {
    return message_of([&] { load(benchmark, id); });
  }
  test::TemporaryFolder folder_;
  Json made_ = system();
};

TEST_F(SystemFile, GivesTheOnlyBitstreamOfTheBenchmarkAndTheBanksOfItsDevice) {
  const SystemChoice found = load("stream");
  EXPECT_EQ(found.note(), "system mine: ring, bitstream a/stream");
  EXPECT_EQ(found.overrides.banks, 32);
  EXPECT_EQ(found.overrides.variant, "base");
  EXPECT_EQ(found.overrides.parameters, (std::map<std::string, Value>{{"vector_width", std::int64_t{8}},
                                                                      {"data_type", std::string("float")}}));
  const DeviceFacts facts{.device_class = device::DeviceClass::kFpga, .banks = *found.overrides.banks};
  const Parameters parameters = resolve(spec("stream"), "base", facts, {}, found.overrides, {});
  EXPECT_EQ(parameters.integer("vector_width"), 8);
  EXPECT_EQ(parameters.integer("replications"), 32) << "one for each bank";
}

TEST_F(SystemFile, GivesTheMemoryOfTheBoard) {
  EXPECT_EQ(load("stream").overrides.memory.separate_banks(), 0) << "nothing says who chooses";
  Json& device = made_["devices"][1];
  device["memory"] = {{"kind", "hbm"}, {"placement", "host"}, {"index_offset", 2}};
  device["values"]["memory_bytes"] = {{"value", 32.0 * 1024}, {"kind", "published"}};
  const device::BoardMemory found = load("stream").overrides.memory;
  EXPECT_EQ(found.kind, device::BoardMemory::Kind::kHbm);
  EXPECT_EQ(found.separate_banks(), 32);
  EXPECT_EQ(found.bank_bytes, 1024U);
  EXPECT_EQ(found.index_offset, 2);
  const auto resolved = [&] {
    Wanted wanted;
    wanted.system = folder_.write("system.json", made_.dump());
    return resolve(spec("hpl"), {.device_class = device::DeviceClass::kFpga}, wanted).parameters;
  };
  EXPECT_EQ(resolved().integer("matrix_banks"), 0) << "of the first board";
  made_["bitstreams"].push_back(bitstream("a/hpl", "hpl", {{"block_size", 256}}));
  EXPECT_EQ(resolved().integer("matrix_banks"), 32);
  made_["bitstreams"].back()["values"]["matrix_banks"] = {{"value", 1}, {"kind", "published"}};
  EXPECT_EQ(resolved().integer("matrix_banks"), 1) << "as the design was made";
}

TEST_F(SystemFile, GivesTheDesign) {
  EXPECT_EQ(load("stream").overrides.design.board, "ring");
  Json& stream = made_["bitstreams"][0];
  stream["tools"] = "aoc 19.4";
  stream["shell"] = "BSP 2";
  stream["resources"] = {{"dsps", 128}};
  stream["values"]["kernel_hz"] = {{"value", 3e8}, {"kind", "published"}};
  const Design found = load("stream").overrides.design;
  EXPECT_EQ(found.bitstream, "a/stream");
  EXPECT_EQ(found.tools + ", " + found.shell, "aoc 19.4, BSP 2");
  EXPECT_EQ(found.resources, (std::map<std::string, std::int64_t>{{"dsps", 128}}));
  EXPECT_EQ(found.clock_hz, 3e8);
  EXPECT_EQ(load("fft").overrides.design.board, "star") << "without a bitstream";
}

TEST_F(SystemFile, MustBeThatOfTheLoadedBitstream) {
  made_["bitstreams"][1]["device"] = "star";
  const auto file = folder_.write("system.json", made_.dump());
  const std::string built = "benchmark = 'gemm'\nvariant = 'base'\n";
  const std::string values =
      "[parameters]\nblock_size = 256\ngemm_size = 8\nunroll = 8\ndata_type = 'float'\n"
      "matrix_units = 0\nvector_bytes = 64\ntile_rows = 4\ntile_vectors = 4\ndepth_block = 16\n"
      "row_tiles = 22\ncolumn_tiles = 8\ngroup_side = 8\n";
  const auto resolved = [&](const std::string& says, const std::string& id) {
    Wanted wanted;
    wanted.bitstream = folder_.write("g.bin", "contents");
    (void)folder_.write("g.bin.toml", built + says + values);
    wanted.system = file;
    wanted.bitstream_id = id;
    return resolve(spec("gemm"), {.device_class = device::DeviceClass::kFpga}, wanted);
  };
  const auto said = [&](const std::string& says, const std::string& id) {
    return message_of([&] { resolved(says, id); });
  };
  const std::string all =
      "board = 'star'\nclock_hz = 2e8\ntools = 't'\nshell = 's'\nresources = { dsps = 7 }\n";
  const Resolved found = resolved(all, "");
  EXPECT_EQ(found.system->bitstream, "a/gemm") << "the only one for the board";
  EXPECT_EQ(found.loaded->clock_hz, 2e8);
  EXPECT_EQ(found.loaded->resources.at("dsps"), 7);
  const std::string board = said("board = 'star'\n", "b/gemm");
  EXPECT_TRUE(mentions(board, "for the board star (") && mentions(board, "not for ring of the system mine"));
  EXPECT_TRUE(mentions(said("bitstream = 'a/gemm'\n", "b/gemm"), "give --bitstream-id a/gemm"));
  const std::string other = said("", "b/gemm");
  EXPECT_TRUE(mentions(other, "built with block_size = 256") && mentions(other, "has 512")) << other;
  EXPECT_TRUE(mentions(said("clock_hz = 0\n", "a/gemm"), "clock_hz is missing or wrong"));
  EXPECT_TRUE(mentions(said("bitstream = 'gemm'\n", "a/gemm"), "FILE/NAME of systems/bitstreams"));
  EXPECT_TRUE(mentions(said("resources = { luts = 7 }\n", "a/gemm"), "unknown key resources.luts"));
  EXPECT_TRUE(mentions(said("resources = { dsps = -7 }\n", "a/gemm"), "resources.dsps"));
}

TEST_F(SystemFile, WithoutABitstreamGivesTheBanksOfTheFirstDevice) {
  for (const char* benchmark : {"fft", "b_eff"}) {  // none, and one over channels, for which nobody asks
    const SystemChoice found = load(benchmark);
    EXPECT_EQ(found.note(), "system mine: star, no bitstream of this benchmark");
    EXPECT_EQ(found.overrides.banks, 4);
    EXPECT_TRUE(found.overrides.parameters.empty() && !found.overrides.variant);
  }
  EXPECT_EQ(load("b_eff", "", "channels").bitstream, "a/b_eff");
  EXPECT_TRUE(load("stream", "", "throughput").bitstream.empty()) << "of another kind of kernel";
}

TEST_F(SystemFile, WithoutABitstreamADataflowKernelIsOnTheFirstDeviceThatHasItsTransport) {
  made_["topology"] = {{{"device", "star"}, {"networks", {{"host", "a"}}}},
                       {{"device", "ring"}, {"networks", {{"accl-udp", "b"}}}}};
  const auto device = [&](const std::string& transport) {
    return load_system(folder_.write("system.json", made_.dump()), spec("b_eff"), {.transport = transport})
        .device;
  };
  EXPECT_EQ(device("accl-udp"), "ring");
  EXPECT_EQ(device("accl-tcp"), "star");
}

TEST_F(SystemFile, OfSeveralDesignsOfOneFileTheOneWithTheBenchmarksNameIsUsual) {
  made_["bitstreams"][2]["id"] = "a/gemm_large";
  EXPECT_EQ(load("gemm").note(), "system mine: ring, bitstream a/gemm");
  EXPECT_EQ(load("gemm", "a/gemm_large").note(), "system mine: ring, bitstream a/gemm_large");
  made_["bitstreams"][1]["id"] = "a/gemm_small";
  EXPECT_TRUE(mentions(refused("gemm"), "several bitstreams of gemm")) << "where none has it";
}

TEST_F(SystemFile, OfSeveralBitstreamsTheIdChooses) {
  EXPECT_EQ(std::get<std::int64_t>(load("gemm", "b/gemm").overrides.parameters.at("block_size")), 512);
  const std::string several = refused("gemm");
  EXPECT_TRUE(
      mentions(several, "several bitstreams of gemm; choose with --bitstream-id one of a/gemm, b/gemm"))
      << several;
  const std::string unknown = refused("gemm", "c/gemm");
  EXPECT_TRUE(mentions(unknown, "'c/gemm' of gemm; use --bitstream-id with one of a/gemm, b/gemm"))
      << unknown;
  EXPECT_TRUE(mentions(refused("gemm", "a/stream"), "'a/stream' of gemm")) << "of another benchmark";
  EXPECT_TRUE(mentions(refused("fft", "a/fft"), "leave out --bitstream-id"));
  made_["bitstreams"][2]["variant"] = "throughput";
  EXPECT_EQ(load("gemm", "", "throughput").bitstream, "b/gemm");
}

TEST_F(SystemFile, GivesTheTransportWhereTheBenchmarkHasThatChoice) {
  EXPECT_EQ(std::get<std::string>(load("ptrans").overrides.parameters.at("transport")), "host");
  made_["bitstreams"][0]["transport"] = "host";
  EXPECT_FALSE(load("stream").overrides.parameters.contains("transport"));
}

TEST_F(SystemFile, AParameterThatTheBenchmarkHasNotIsRefusedWithFileAndBitstream) {
  made_["bitstreams"][0]["parameters"]["lanes"] = 4;
  const SystemChoice found = load("stream");
  const std::string message =
      message_of([&] { resolve(spec("stream"), "base", {}, {}, found.overrides, {}); });
  EXPECT_TRUE(mentions(message, "stream has no parameter 'lanes'")) << message;
  EXPECT_TRUE(mentions(message, "system.json: a/stream'); use one of")) << message;
}

TEST_F(SystemFile, IsRefusedWithFileAndPlace) {
  struct Fault {
    const char* pointer;
    Json value;
    const char* message;
  };
  for (const auto& [pointer, value, message] : std::vector<Fault>{
           {"/schema", "fabricmark-exported-system/2", "is no fabricmark-exported-system/1"},
           {"/schema", 1, "is no fabricmark-exported-system/1"},
           {"/name", nullptr, "name is missing or wrong"},
           {"/devices", Json::array(), "devices: the board ring"},
           {"/devices/1/id", "tree", "devices: the board ring"},
           {"/devices/1/values", 3, "devices[1].values is"},
           {"/devices/1/values/banks/value", 0, "devices[1].values.banks.value"},
           {"/devices/1/values/banks/value", 2.5, "devices[1].values.banks.value"},
           {"/devices/1/values/banks/value", "4", "devices[1].values.banks.value"},
           {"/devices/1/values/banks", 4, "devices[1].values.banks is"},
           {"/bitstreams", "none", "bitstreams is"},
           {"/bitstreams/0", 1, "bitstreams[0].benchmark"},
           {"/bitstreams/0/id", 1, "bitstreams[0].id"},
           {"/devices/1/memory", {{"kind", "sram"}}, "devices[1].memory.kind"},
           {"/devices/1/memory", {{"placement", 1}}, "devices[1].memory.placement"},
           {"/devices/1/memory", {{"index_offset", -1}}, "devices[1].memory.index_offset"},
           {"/devices/1/memory", 3, "devices[1].memory is"},
           {"/bitstreams/0/tools", 3, "bitstreams[0].tools"},
           {"/bitstreams/0/resources", {{"dsps", "many"}}, "bitstreams[0].resources.dsps"},
           {"/bitstreams/0/values/kernel_hz", 3e8, "bitstreams[0].values.kernel_hz."},
           {"/bitstreams/0/parameters/vector_width", Json::array(), "bitstreams[0].parameters.vector_width"},
           {"/bitstreams/0/parameters/vector_width", 1ULL << 63U, "bitstreams[0].parameters.vector_width"}}) {
    made_ = system();
    made_[Json::json_pointer(pointer)] = value;
    const std::string said = refused();
    EXPECT_TRUE(mentions(said, "system.json") && mentions(said, message)) << said;
    EXPECT_TRUE(mentions(said, "; give what `fabricmark systems export NAME --output FILE` writes")) << said;
  }
}

TEST_F(SystemFile, ThatIsNoJsonIsRefusedWithItsLine) {
  const auto said = [&](const std::string& text) { return message_of([&] { load_text(text, "stream"); }); };
  EXPECT_TRUE(mentions(said("{\n\"schema\": 1,\n]"), "system.json' line 3 is not JSON"));
  EXPECT_TRUE(mentions(said(""), "line 1 is not JSON"));
  EXPECT_TRUE(mentions(said("banks = 4\n"), "line 1 is not JSON"));
  EXPECT_TRUE(mentions(said("[1e999]"), "a number is missing or wrong"));
  EXPECT_TRUE(mentions(said("[]"), "is no fabricmark-exported-system/1"));
  EXPECT_TRUE(mentions(said(std::string(100000, '[')), "is not JSON"));
  for (const auto& file : {folder_.path() / "none.json", folder_.path()}) {
    const std::string none = message_of([&] { load_system(file, spec("stream"), {}); });
    EXPECT_TRUE(mentions(none, "cannot read the system file '" + file.string())) << none;
  }
}

TEST_F(SystemFile, SurvivesRandomChangesOfItsText) {
  const std::string original = made_.dump(1);
  const KernelSpec stream = spec("stream");
  std::mt19937 random(20261123);
  int refused = 0;
  constexpr int kTexts = test::kMutations / 10;  // each is written to a file
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = test::mutated(original, random);
    const auto file = folder_.write("system.json", text);
    try {
      const SystemChoice found = load_system(file, stream, {});
      ASSERT_GE(found.overrides.banks.value_or(0), 1) << text;
    } catch (const Error& error) {
      ++refused;
      const std::string message = error.what();
      ASSERT_TRUE(mentions(message, "system.json") && mentions(message, "; ")) << message;
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << text;
    }
  }
  EXPECT_GT(refused, kTexts / 4) << "the changes change too little";
  EXPECT_LT(refused, kTexts) << "the changes change too much";
}

TEST_F(SystemFile, HasADeviceForEachRankOrSaysHowMany) {
  const auto file = [this] { return folder_.write("system.json", made_.dump()); };
  check_devices(file(), "star", 1000);  // nothing is said of it
  made_["topology"] = {
      {{"device", "star"}, {"most_devices", 8}, {"networks", {{"host", "mpi"}}}},
      {{"device", "ring"}, {"most_devices", 4}, {"networks", {{"channels", "links"}}}},
  };
  check_devices(file(), "star", 8);
  check_devices_with(file(), "channels", 4);
  const std::string many = message_of([&] { check_devices(file(), "star", 9); });
  EXPECT_TRUE(mentions(many, "system.json' has 8 devices of the kind star, not one for each of 9 ranks"))
      << many;
  EXPECT_TRUE(mentions(many, "at most 8 ranks, or a system with more boards")) << many;
  EXPECT_TRUE(mentions(message_of([&] { check_devices_with(file(), "channels", 5); }), "4 devices"));
  made_["topology"][0].erase("most_devices");
  const std::string missing = message_of([&] { check_devices(file(), "star", 1); });
  EXPECT_TRUE(mentions(missing, "topology[0].most_devices is missing or wrong")) << missing;
}

}  // namespace

}  // namespace fabricmark::runtime
