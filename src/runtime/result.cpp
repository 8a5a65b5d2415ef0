#include "runtime/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/statistics.hpp"
#include "base/version.hpp"

namespace fabricmark::runtime {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinities and no NaN; they are written as texts so that they are not lost.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json steps_json(const Result& result) {
  Json steps = Json::array();
  for (const Result::Step& step : result.steps) {
    steps.push_back({{"name", step.name}, {"seconds", step.seconds}});
  }
  return steps;
}

Json noise_json(const std::vector<HostNoise>& noise) {
  Json hosts = Json::array();
  for (const HostNoise& one : noise) {
    Json entry = {{"host", one.host}, {"seconds", one.seconds}, {"cpus", one.cpus}, {"stolen", one.stolen}};
    if (one.other_load) entry["other_load"] = *one.other_load;
    if (one.memory_stalls) entry["memory_stalls"] = *one.memory_stalls;
    if (one.swapped_bytes) entry["swapped_bytes"] = *one.swapped_bytes;
    if (one.throttled) entry["throttled"] = *one.throttled;
    hosts.push_back(entry);
  }
  return hosts;
}

Json optional_text(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json device_json(const device::DeviceInfo& info) {
  return {{"platform", info.platform},
          {"platform_version", info.platform_version},
          {"name", info.name},
          {"vendor", info.vendor},
          {"driver", info.driver},
          {"class", device::class_name(info.device_class)},
          {"platform_index", info.platform_index},
          {"device_index", info.device_index},
          {"compute_units", info.compute_units},
          {"global_memory_bytes", info.global_memory_bytes},
          {"max_allocation_bytes", info.max_allocation_bytes},
          {"local_memory_bytes", info.local_memory_bytes},
          {"emulated", info.emulated()}};
}

/// Variables that change what is measured; null where unset, so that their absence is on record too.
Json variables_json() {
  Json variables = Json::object();
  for (const char* name : {"FPGA_MAPPING",
                           "OCL_ICD_VENDORS",
                           "OCL_ICD_FILENAMES",
                           "POCL_MAX_PTHREAD_COUNT",
                           "CL_CONFIG_CPU_TBB_NUM_WORKERS",
                           "CL_CONFIG_CPU_EMULATE_DEVICES",
                           "XCL_EMULATION_MODE",
                           "OMP_NUM_THREADS",
                           "OPENBLAS_CORETYPE",
                           "FABRICMARK_KERNELS",
                           "FABRICMARK_REPLICAS",
                           "FABRICMARK_POWERCAP",
                           "FABRICMARK_HWMON",
                           "FABRICMARK_BACKEND",
                           "FABRICMARK_XRT",
                           "FABRICMARK_NVML",
                           "FABRICMARK_SYCL",
                           "FABRICMARK_ACCL",
                           "FABRICMARK_ACCL_ADDRESSES",
                           "FABRICMARK_TRANSPORTS",
                           "SLURM_JOB_ID"}) {
    const char* value = std::getenv(name);
    variables[name] = value == nullptr ? Json(nullptr) : Json(value);
  }
  return variables;
}

Json environment_json(const Result& result) {
  const Host& host = describe_host();
  Json placement = Json::array();
  for (std::size_t rank = 0; rank < result.placement.size(); ++rank) {
    const Result::Placement& place = result.placement[rank];
    placement.push_back({{"rank", rank},
                         {"host", place.host},
                         {"platform_index", place.platform_index},
                         {"device_index", place.device_index},
                         {"device", place.device},
                         {"compute_units", place.compute_units}});
  }
  return {{"host",
           {{"name", host.name},
            {"cpu", host.cpu},
            {"logical_cores", host.logical_cores},
            {"sockets", host.sockets},
            {"numa_nodes", host.numa_nodes},
            {"last_level_cache_bytes", host.last_level_cache_bytes},
            {"memory_bytes", host.memory_bytes},
            {"operating_system", host.operating_system},
            {"kernel", host.kernel}}},
          {"ranks",
           {{"count", result.placement.size()},
            {"kind", result.ranks_kind},
            {"mpi_library", optional_text(result.mpi_library)},
            {"placement", placement}}},
          {"device", device_json(result.device)},
          {"toolchain", {{"compiler", compiler()}, {"build_type", build_type()}, {"hwloc", hwloc_version()}}},
          {"variables", variables_json()}};
}

/// Adds what is known of a bitstream.
void add_design(Json& json, const Design& design) {
  const auto add = [&](const char* name, const auto& value, bool is_known) {
    if (is_known) json[name] = value;
  };
  add("board", design.board, !design.board.empty());
  add("bitstream", design.bitstream, !design.bitstream.empty());
  add("language", design.language, !design.language.empty());
  add("clock_hz", design.clock_hz, design.clock_hz > 0);
  add("tools", design.tools, !design.tools.empty());
  add("shell", design.shell, !design.shell.empty());
  add("resources", design.resources, !design.resources.empty());
}

std::size_t region_of(const Result& result, const Metric& metric) {
  const auto found = std::ranges::find(result.region_names, metric.region);
  return static_cast<std::size_t>(found - result.region_names.begin());
}

bool is_modelled(const Result& result, const Metric& metric) {
  return kind_of(result, metric.kind) == TimeKind::kModelled;
}

const Result::PerRank& samples_of(const Result& result, const Metric& metric) {
  return (is_modelled(result, metric) ? result.modelled_seconds : result.seconds)
      .at(region_of(result, metric));
}

/// When the ranks began; empty where nobody knows, and of modelled times, which each rank counts from zero.
const Result::PerRank& starts_of(const Result& result, const Metric& metric) {
  static const Result::PerRank kUnknown;
  const std::size_t region = region_of(result, metric);
  return is_modelled(result, metric) || region >= result.starts.size() ? kUnknown : result.starts[region];
}

Json axes_json(const std::vector<Axis>& axes) {
  Json object = Json::object();
  for (const Axis& axis : axes) std::visit([&](const auto& value) { object[axis.name] = value; }, axis.value);
  return object;
}

const char* better_name(Better better) { return better == Better::kHigher ? "higher" : "lower"; }

/// A derived metric has a best and a median but no samples; the other statistics repeat the median.
Json derived_json(const Result& result, const DerivedMetric& metric) {
  const char* kind = name_of(kind_of(result, metric.kind));
  return {{"name", metric.name},
          {"axes", axes_json(metric.axes)},
          {"unit", metric.unit},
          {"better", better_name(metric.better)},
          {"kind", kind},
          {"best", number(metric.best)},
          {"median", number(metric.median)},
          {"mean", number(metric.median)},
          {"minimum", number(std::min(metric.best, metric.median))},
          {"maximum", number(std::max(metric.best, metric.median))},
          {"standard_deviation", 0.0},
          {"work", nullptr},
          {"derived", metric.formula},
          {"samples", {{"kind", kind}, {"unit", "s"}, {"per_rank", Json::array()}}}};
}

/// The value below or at which so many percent of the sorted values lie: one of them (nearest rank).
double percentile(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[std::max<std::size_t>((percent * sorted.size() + 99) / 100, 1) - 1];
}

/// Adds every single time of a part to a metric that is such a time, and their percentiles over all ranks and
/// repetitions, in the metric's unit. Rates repeat what stands there.
void add_inner(Json& measurement, const Result& result, const Metric& metric) {
  const std::size_t region = region_of(result, metric);
  const bool is_wall_time = metric.work <= 0 && kind_of(result, metric.kind) != TimeKind::kModelled;
  if (!is_wall_time || region >= result.inner_seconds.size()) return;
  std::vector<double> all;
  for (const Result::PerRank& of_rank : result.inner_seconds[region]) {
    for (const std::vector<double>& of_repetition : of_rank) {
      all.insert(all.end(), of_repetition.begin(), of_repetition.end());
    }
  }
  if (all.empty()) return;
  std::ranges::sort(all);
  measurement["percentiles"] = {{"p50", percentile(all, 50) * metric.scale},
                                {"p90", percentile(all, 90) * metric.scale},
                                {"p99", percentile(all, 99) * metric.scale},
                                {"largest", all.back() * metric.scale}};
  measurement["samples"]["inner"] = result.inner_seconds[region];
}

Json measurement_json(const Result& result, const Metric& metric) {
  const std::vector<double> values = values_of(result, metric);
  const Statistics summary = statistics(values);
  const Json work =
      metric.work > 0 ? Json{{"amount", metric.work}, {"unit", metric.work_unit}} : Json(nullptr);
  const char* kind = name_of(kind_of(result, metric.kind));
  Json measurement{{"name", metric.name},
                   {"axes", axes_json(metric.axes)},
                   {"unit", metric.unit},
                   {"better", better_name(metric.better)},
                   {"kind", kind},
                   {"best", number(best_of(values, metric.better))},
                   {"median", number(summary.median)},
                   {"mean", number(summary.mean)},
                   {"minimum", number(summary.minimum)},
                   {"maximum", number(summary.maximum)},
                   {"standard_deviation", number(summary.standard_deviation)},
                   {"work", work},
                   {"samples", {{"kind", kind}, {"unit", "s"}, {"per_rank", samples_of(result, metric)}}}};
  if (!metric.statistic.empty()) measurement["samples"]["statistic"] = metric.statistic;
  // One rank begins with itself.
  if (const Result::PerRank& starts = starts_of(result, metric); starts.size() > 1) {
    measurement["samples"]["starts"] = starts;
  }
  add_inner(measurement, result, metric);
  return measurement;
}

Json verdict_json(const Result::RankVerdict& entry, bool validated) {
  const Verdict& verdict = entry.verdict;
  if (!validated) {
    return {{"name", "validation"}, {"status", "skipped"}, {"error", nullptr}, {"threshold", nullptr},
            {"measure", "none"},    {"checked", 0},        {"worst", nullptr}};
  }
  Json worst = nullptr;
  if (verdict.worst) {
    worst = {{"rank", entry.rank},
             {"place", verdict.worst->place},
             {"expected", number(verdict.worst->expected)},
             {"actual", number(verdict.worst->actual)}};
  }
  Json document{{"name", verdict.name},
                {"status", verdict.passed() ? "passed" : "failed"},
                {"error", number(verdict.error)},
                {"threshold", number(verdict.threshold)},
                {"measure", verdict.measure},
                {"checked", verdict.checked},
                {"worst", worst}};
  if (verdict.repetition) document["repetition"] = *verdict.repetition;
  if (verdict.sampled) {
    document["sampled"] = {
        {"unit", verdict.sampled->unit}, {"checked", verdict.sampled->checked}, {"of", verdict.sampled->of}};
  }
  return document;
}

Json timeline_json(const Result& result) {
  double first = 0;
  for (const Result::RankTimes& entry : result.timeline) {
    if (first == 0 || entry.times.queued < first) first = entry.times.queued;
  }
  Json timeline = Json::array();
  for (const auto& [times, rank] : result.timeline) {
    timeline.push_back({{"rank", rank},
                        {"repetition", times.repetition},
                        {"operation", times.operation},
                        {"replication", times.replication},
                        {"kernel", times.kernel},
                        {"queued", times.queued - first},
                        {"submitted", times.submitted - first},
                        {"started", times.started - first},
                        {"ended", times.ended - first}});
  }
  return timeline;
}

Json energy_json(const Result& result) {
  Json energy = Json::array();
  for (const power::Energy& entry : result.energy) {
    Json seconds = Json::array();
    Json values = Json::array();
    for (const power::Sample& sample : entry.samples) {
      seconds.push_back(sample.seconds);
      values.push_back(sample.value);
    }
    const char* const unit = entry.quantity == power::Quantity::kEnergy ? "J" : "W";
    energy.push_back({{"domain", entry.domain},
                      {"source", entry.source},
                      {"joules", entry.joules},
                      {"seconds", entry.seconds},
                      {"watts", entry.watts()},
                      {"peak_watts", entry.peak_watts},
                      {"joules_per_repetition", entry.joules / result.repetitions},
                      {"samples", {{"unit", unit}, {"seconds", seconds}, {"values", values}}}});
  }
  return energy;
}

bool is_emulated(const Result& result) {
  return result.device.emulated() || std::ranges::any_of(result.placement, &Result::Placement::is_emulated);
}

}  // namespace

TimeKind kind_of(const Result& result, const std::optional<TimeKind>& own) {
  return own.value_or(is_emulated(result) ? TimeKind::kEmulated : TimeKind::kMeasured);
}

void check_kinds(const Result& result) {
  const auto check = [&](const std::string& name, const std::optional<TimeKind>& kind, bool has_modelled) {
    if (kind == TimeKind::kModelled && !has_modelled) {
      throw environment_failure(
          fmt::format("'{}' is a modelled metric, but nothing was simulated", name),
          "advance the simulated clock of the context in every repetition of its timed region");
    }
    if (kind == TimeKind::kMeasured && is_emulated(result)) {
      throw environment_failure(fmt::format("'{}' is said to be measured on an emulator", name),
                                "leave its kind out: wall times are emulated there");
    }
  };
  for (const Metric& metric : result.metrics) {
    const std::size_t region = region_of(result, metric);
    bool has_modelled = region < result.modelled_seconds.size();
    if (has_modelled) {
      const std::vector<double> seconds = slowest(result.modelled_seconds[region]);
      has_modelled = std::ranges::all_of(seconds, [](double each) { return each > 0; });
    }
    check(metric.name, metric.kind, has_modelled);
  }
  for (const DerivedMetric& metric : result.derived) {
    check(metric.name, metric.kind, !result.modelled_seconds.empty());
  }
}

void check_windows(const Result& result) {
  for (const Metric& metric : result.metrics) {
    const bool is_of_several = metric.work > 0 && !is_modelled(result, metric) && result.placement.size() > 1;
    if (!is_of_several || !starts_of(result, metric).empty()) continue;
    throw environment_failure(fmt::format("'{}' of {} adds up the work of ranks, but not when each began",
                                          metric.name, metric.region),
                              "time its part by TimedRegions::time, or report the seconds of each rank");
  }
}

std::vector<double> values_of(const Result& result, const Metric& metric) {
  std::vector<double> values = spans(samples_of(result, metric), starts_of(result, metric));
  for (double& value : values)
    value = metric.work > 0 ? metric.work / value * metric.scale : value * metric.scale;
  return values;
}

double best_of(const std::vector<double>& values, Better better) {
  if (values.empty()) return 0;
  return better == Better::kHigher ? *std::ranges::max_element(values) : *std::ranges::min_element(values);
}

std::string to_json(const Result& result) {
  Json document;
  document["schema"] = "fabricmark-result/2";
  document["run"] = {{"program", result.program},
                     {"benchmark", result.benchmark},
                     {"variant", result.variant},
                     {"version", version()},
                     {"git", git_state()},
                     {"class", result.optimized ? "optimized" : "base"},
                     {"complete", result.validated},
                     {"started", result.started},
                     {"duration_seconds", result.duration_seconds},
                     {"steps", steps_json(result)},
                     {"command", result.command},
                     {"exit_code", result.exit_code}};
  if (!result.kernel.file.empty()) {
    document["run"]["kernel"] = {
        {"file", result.kernel.file}, {"digest", result.kernel.digest}, {"origin", result.kernel.origin}};
    for (const device::SourceFile& file : result.kernel.files) {
      document["run"]["kernel"]["files"].push_back(
          {{"file", file.name}, {"digest", file.digest}, {"origin", file.is_own ? "file" : "shipped"}});
    }
    add_design(document["run"]["kernel"], result.loaded);
  }
  if (result.library) {
    document["run"]["transport_library"] = {{"file", result.library->file},
                                            {"digest", result.library->digest}};
  }
  if (!result.system.empty()) {
    document["run"]["design"] = {{"system", result.system}};
    add_design(document["run"]["design"], result.design);
  }
  document["environment"] = environment_json(result);
  Json parameters = Json::object();
  for (const auto& parameter : result.parameters.all()) {
    std::visit([&](const auto& typed) { parameters[parameter.first] = typed; }, parameter.second);
  }
  document["parameters"] = parameters;
  document["repetitions"] = {
      {"count", result.repetitions},
      {"warmup", result.warmup},
      {"min_time_seconds", result.min_time_seconds ? Json(*result.min_time_seconds) : Json(nullptr)}};
  if (result.max_time_seconds) document["repetitions"]["max_time_seconds"] = *result.max_time_seconds;
  document["measurements"] = Json::array();
  for (const Metric& metric : result.metrics)
    document["measurements"].push_back(measurement_json(result, metric));
  for (const DerivedMetric& metric : result.derived)
    document["measurements"].push_back(derived_json(result, metric));
  document["verdicts"] = Json::array();
  for (const auto& entry : result.verdicts)
    document["verdicts"].push_back(verdict_json(entry, result.validated));
  if (!result.validated) document["verdicts"].push_back(verdict_json({}, false));
  if (!result.noise.empty()) document["noise_of_hosts"] = noise_json(result.noise);
  if (result.with_timeline) document["timeline"] = timeline_json(result);
  if (result.activities) {
    document["modelled_timeline"] = timeline_document(*result.activities, result.program, "");
  }
  if (!result.energy.empty()) document["energy"] = energy_json(result);
  document["notes"] = result.notes;
  // Names of devices and files come from outside; what is not UTF-8 in them must not cost the result.
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string devices_json(const std::vector<device::FoundDevice>& devices) {
  Json list = Json::array();
  for (const device::FoundDevice& found : devices) list.push_back(device_json(found.info));
  return Json{{"devices", list}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fabricmark::runtime
