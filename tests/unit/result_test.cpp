#include "runtime/result.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using Json = nlohmann::json;

Result sample() {
  Result result;
  result.program = "fm_stream";
  result.benchmark = "stream";
  result.variant = "base";
  result.command = {"fm_stream", "--size", "1024"};
  result.ranks_kind = "in-process";
  result.placement = {{"host", "device", 0, 1}, {"host", "device", 0, 1}};
  result.parameters.set("size", std::int64_t{1024});
  result.parameters.set("data_type", std::string("float"));
  result.parameters.set("share", 0.5);
  result.parameters.set("check", false);
  result.repetitions = 2;
  result.region_names = {"copy", "triad"};
  result.seconds = {{{1, 2}, {2, 1}}, {{0.5, 0.25}, {0.125, 1}}};
  result.metrics = {bandwidth("triad", 1e9)};
  Verdict verdict;
  verdict.name = "array a";
  verdict.threshold = 1e-7;
  verdict.checked = 2048;
  result.verdicts = {{verdict, 0}};
  return result;
}

TEST(Values, AreTheWorkOfAllOverTheTimeOfTheSlowest) {
  const Result result = sample();
  EXPECT_EQ(values_of(result, result.metrics[0]), (std::vector<double>{2, 1}));
  EXPECT_EQ(best_of({1, 3, 2}, Better::kHigher), 3);
  EXPECT_EQ(best_of({1, 3, 2}, Better::kLower), 1);
  EXPECT_EQ(best_of({}, Better::kLower), 0);
}

TEST(Values, WithoutWorkAreTimes) {
  const Result result = sample();
  Metric latency;
  latency.name = "latency";
  latency.region = "triad";
  latency.unit = "us";
  latency.scale = 1e6;
  latency.better = Better::kLower;
  EXPECT_EQ(values_of(result, latency), (std::vector<double>{0.5e6, 1e6}));
}

TEST(ResultJson, KeepsTheTypesOfParameters) {
  const Json document = Json::parse(to_json(sample()));
  EXPECT_EQ(document["schema"], "fabricmark-result/2");
  EXPECT_TRUE(document["parameters"]["size"].is_number_integer());
  EXPECT_EQ(document["parameters"]["data_type"], "float");
  EXPECT_TRUE(document["parameters"]["share"].is_number_float());
  EXPECT_TRUE(document["parameters"]["check"].is_boolean());
}

TEST(ResultJson, HoldsAllSamplesAndTheirStatistics) {
  const Json triad = Json::parse(to_json(sample()))["measurements"][0];
  EXPECT_EQ(triad["axes"]["operation"], "triad");
  EXPECT_EQ(triad["best"], 2.0);
  EXPECT_EQ(triad["median"], 1.5);
  EXPECT_EQ(triad["kind"], "measured");
  EXPECT_EQ(triad["samples"]["per_rank"], (Json{{0.5, 0.25}, {0.125, 1.0}}));
}

TEST(ResultJson, HoldsWhoWaitedInModelledTime) {
  Result result = sample();
  EXPECT_FALSE(Json::parse(to_json(result)).contains("modelled_timeline"));
  const auto log = std::make_shared<ActivityLog>();
  log->add({.lane = "solve", .from = 0, .to = 2'000'000, .kind = ActivityKind::kWaitForWord, .what = "rows"});
  result.activities = log;
  const Json timeline = Json::parse(to_json(result))["modelled_timeline"];
  EXPECT_EQ(timeline["program"], "fm_stream");
  EXPECT_EQ(timeline["series"][0]["what"], "rows");
  EXPECT_EQ(timeline["series"][0]["activities"][0][1], 2e-9);
}

TEST(ResultJson, SaysHowLongTheStepsTook) {
  Result result = sample();
  result.steps = {{"inputs", 0.5}, {"check", 2}};
  const Json steps = Json::parse(to_json(result))["run"]["steps"];
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1]["name"], "check");
  EXPECT_EQ(steps[1]["seconds"], 2);
}

TEST(ResultJson, MarksAnEmulatorsTimes) {
  Result result = sample();
  result.device.device_class = device::DeviceClass::kEmulator;
  const Json document = Json::parse(to_json(result));
  EXPECT_EQ(document["measurements"][0]["kind"], "emulated");
  EXPECT_EQ(document["environment"]["device"]["emulated"], true);
}

/// Triad in half of the time, as a model has it.
Metric modelled_triad(Result& result) {
  result.modelled_seconds = {{{0, 0}, {0, 0}}, {{0.25, 0.125}, {0, 0.5}}};
  Metric metric = bandwidth("triad", 1e9);
  metric.kind = TimeKind::kModelled;
  return metric;
}

TEST(ResultJson, HasMetricsOfSeveralKindsSideBySide) {
  Result result = sample();
  result.metrics.push_back(modelled_triad(result));
  result.derived = {{.name = "mean", .unit = "GB/s", .kind = TimeKind::kModelled}};
  for (const bool is_emulated : {false, true}) {
    if (is_emulated) result.device.device_class = device::DeviceClass::kEmulator;
    const std::string wall = is_emulated ? "emulated" : "measured";
    const Json entries = Json::parse(to_json(result))["measurements"];
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_EQ(entries[0]["kind"], wall);
    EXPECT_EQ(entries[0]["samples"]["kind"], wall);
    EXPECT_EQ(entries[0]["samples"]["per_rank"], (Json{{0.5, 0.25}, {0.125, 1.0}}));
    EXPECT_EQ(entries[1]["kind"], "modelled");
    EXPECT_EQ(entries[1]["samples"]["kind"], "modelled");
    EXPECT_EQ(entries[1]["samples"]["per_rank"], (Json{{0.25, 0.125}, {0.0, 0.5}}));
    EXPECT_EQ(entries[1]["best"], 4.0);
    EXPECT_EQ(entries[2]["kind"], "modelled");
    EXPECT_EQ(entries[2]["samples"]["kind"], "modelled");
    check_kinds(result);
  }
}

TEST(Kinds, AreEmulatedWhereOneRankIs) {
  Result result = sample();
  result.placement = {{"host", "processor", 0, 2, false}, {"host", "emulator", 0, 1, true}};
  EXPECT_EQ(kind_of(result, {}), TimeKind::kEmulated);
  result.placement[1].is_emulated = false;
  EXPECT_EQ(kind_of(result, {}), TimeKind::kMeasured);
}

TEST(Kinds, AreRefusedWhereTheirTimeIsNotThere) {
  Result result = sample();
  const Metric metric = modelled_triad(result);
  const auto refusal = [&] { return test::message_of([&] { check_kinds(result); }, ExitCode::kEnvironment); };
  result.metrics = {metric};
  EXPECT_NO_THROW(check_kinds(result));
  result.modelled_seconds[1] = {{0.25, 0}, {0, 0}};  // nothing in the second repetition
  EXPECT_TRUE(test::mentions(refusal(), "'bandwidth' is a modelled metric, but nothing was simulated"));
  result.modelled_seconds.clear();
  EXPECT_TRUE(test::mentions(refusal(), "nothing was simulated"));
  result.metrics.clear();
  result.derived = {{.name = "mean", .unit = "GB/s", .kind = TimeKind::kModelled}};
  EXPECT_TRUE(test::mentions(refusal(), "'mean' is a modelled metric"));
  result.derived[0].kind = TimeKind::kMeasured;
  EXPECT_NO_THROW(check_kinds(result));
  result.device.device_class = device::DeviceClass::kEmulator;
  EXPECT_TRUE(test::mentions(refusal(), "'mean' is said to be measured on an emulator"));
}

TEST(ResultJson, HasPercentilesOfInnerSamplesInTheMetricsUnit) {
  Result result = sample();
  Metric latency{.name = "latency", .region = "triad", .unit = "us", .scale = 1e6, .better = Better::kLower};
  Metric modelled = latency;
  modelled.kind = TimeKind::kModelled;
  result.modelled_seconds = {{{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}};
  result.metrics = {latency, modelled, bandwidth("triad", 1e9)};
  result.inner_seconds = {{}, {{{4, 1}, {3, 2}}, {{10, 9}, {8, 7}}}};
  const Json entries = Json::parse(to_json(result))["measurements"];
  EXPECT_EQ(entries[0]["percentiles"], (Json{{"p50", 4e6}, {"p90", 10e6}, {"p99", 10e6}, {"largest", 10e6}}));
  EXPECT_EQ(entries[0]["samples"]["inner"], Json(result.inner_seconds[1]));
  for (const std::size_t other : {1U, 2U}) {
    EXPECT_FALSE(entries[other].contains("percentiles"));
    EXPECT_FALSE(entries[other]["samples"].contains("inner"));
  }
}

TEST(ResultJson, WritesNaNAndInfinityAsTexts) {
  Result result = sample();
  result.verdicts[0].verdict.error = std::numeric_limits<double>::quiet_NaN();
  result.verdicts[0].verdict.worst =
      WorstPlace{"a[1]", -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const Json verdict = Json::parse(to_json(result))["verdicts"][0];
  EXPECT_EQ(verdict["status"], "failed");
  EXPECT_EQ(verdict["error"], "nan");
  EXPECT_EQ(verdict["worst"]["expected"], "-inf");
  EXPECT_EQ(verdict["worst"]["actual"], "inf");
}

TEST(ResultJson, SurvivesNamesThatAreNotUtf8) {
  Result result = sample();
  result.device.name = "caf\xe9";
  result.placement[0].device = "\xff\xfe";
  result.command.emplace_back("\xc3");
  EXPECT_NO_THROW(Json::parse(to_json(result)));
}

TEST(ResultJson, HasUnsetVariablesAsNull) {
  unsetenv("FPGA_MAPPING");
  setenv("OMP_NUM_THREADS", "2", 1);
  const Json variables = Json::parse(to_json(sample()))["environment"]["variables"];
  EXPECT_TRUE(variables.at("FPGA_MAPPING").is_null());
  EXPECT_EQ(variables.at("OMP_NUM_THREADS"), "2");
}

TEST(ResultJson, OfASkippedValidationIsIncompleteAndSkipped) {
  Result result = sample();
  result.validated = false;
  result.verdicts.clear();
  const Json document = Json::parse(to_json(result));
  EXPECT_EQ(document["run"]["complete"], false);
  ASSERT_EQ(document["verdicts"].size(), 1U);
  EXPECT_EQ(document["verdicts"][0]["status"], "skipped");
  EXPECT_TRUE(document["verdicts"][0]["error"].is_null());
}

TEST(ResultJson, HasATimelineOnlyOnRequestAndFromZero) {
  Result result = sample();
  EXPECT_FALSE(Json::parse(to_json(result)).contains("timeline"));
  result.with_timeline = true;
  result.timeline = {{{{5.5, 6, 7, 8}, "copy", "stream", 0, 0}, 0},
                     {{{5, 6, 7, 8}, "copy", "stream", 0, 1}, 0}};
  const Json timeline = Json::parse(to_json(result))["timeline"];
  EXPECT_EQ(timeline[0]["queued"], 0.5);
  EXPECT_EQ(timeline[1]["queued"], 0.0);
  EXPECT_EQ(timeline[1]["ended"], 3.0);
}

}  // namespace

}  // namespace fabricmark::runtime
