#include "microbench/collective/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/terminal.hpp"
#include "collectives/elements.hpp"
#include "collectives/operation.hpp"
#include "runtime/company.hpp"
#include "runtime/exchange.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/publish.hpp"

namespace fabricmark::microbench {

namespace {

using runtime::Better;
using runtime::Metric;
using runtime::TimeKind;

const char* issuer(const Options& options) { return options.is_from_logic ? "logic" : "host"; }
const char* mode(const Options& options) { return options.uses_streams ? "streaming" : "buffered"; }

double bus_bytes(const Options& options, const Row& row) {
  const int ranks = static_cast<int>(row.wall_seconds.size());
  return options.act == Act::kCollective ? collectives::bus_bytes(options.operation, ranks, row.bytes)
                                         : static_cast<double>(row.bytes);
}

runtime::Result::RankVerdict verdict_of(const Options& options, const std::vector<Row>& rows) {
  auto all = element_verdict(options.name);
  for (const Row& row : rows) {
    add(all, row.found, fmt::format("{} of rank {}, {} B", row.found.place, row.found.rank, row.bytes));
  }
  return all;
}

std::vector<Metric> metrics_of(const Options& options, const Row& row, const std::string& region) {
  std::vector<runtime::Axis> axes{{"operation", options.name},
                                  {"message_bytes", static_cast<std::int64_t>(row.bytes)}};
  if (!row.algorithm.empty()) axes.push_back({"algorithm", row.algorithm});
  std::optional<TimeKind> kind;  // by the wall clock as the device's
  if (!row.modelled_seconds.empty()) kind = TimeKind::kModelled;
  const auto metric = [&](const std::string& name, std::optional<TimeKind> own, double work) -> Metric {
    if (work > 0) return {name, axes, region, "GB/s", 1e-9, Better::kHigher, work, "B", own};
    return {name, axes, region, "us", 1e6, Better::kLower, 0, "", own};
  };
  std::vector<Metric> found{metric("latency", kind, 0)};
  if (kind) found.push_back(metric("emulation_time", TimeKind::kEmulated, 0));
  if (row.bytes == 0) return found;
  found.push_back(metric("bandwidth", kind, static_cast<double>(row.bytes)));
  const double bus = bus_bytes(options, row);
  if (bus > 0) found.push_back(metric("bus_bandwidth", kind, bus));
  return found;
}

void set_parameters(const Options& options, runtime::Parameters& parameters) {
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  parameters.set("operation", options.name);
  parameters.set("transport", options.transport);
  parameters.set("issuer", std::string(issuer(options)));
  parameters.set("mode", std::string(mode(options)));
  parameters.set("data_type", std::string(name_of(options.type)));
  parameters.set("reduction", std::string(name_of(options.reduction)));
  parameters.set("codec", std::string(options.is_compressed ? "float16" : "none"));
  parameters.set("root", std::int64_t{options.root});
  if (options.medium != Medium::kTransport) parameters.set("system", options.system.filename().string());
  if (options.medium == Medium::kEngine) parameters.set("drop", options.drop);
  if (options.medium != Medium::kLinks) parameters.set("timeout", options.timeout_seconds);
  if (!options.algorithm.empty()) parameters.set("algorithm", options.algorithm);
  if (!options.topology.empty()) parameters.set("topology", options.topology);
  if (options.choices.mtu_bytes > 0) parameters.set("mtu", number(options.choices.mtu_bytes));
  if (options.choices.window_bytes > 0) parameters.set("window", number(options.choices.window_bytes));
  if (options.rx_buffers) parameters.set("rx_buffers", number(*options.rx_buffers));
  if (options.rx_bytes) parameters.set("rx_bytes", number(*options.rx_bytes));
  if (options.eager_bytes) parameters.set("eager_limit", number(*options.eager_bytes));
}

std::string verdict_line(const runtime::Verdict& verdict) {
  if (verdict.passed()) return fmt::format("valid: {} elements checked\n", verdict.checked);
  return fmt::format("INVALID: {:.0f} of {} elements wrong; the first: {}: expected {:g}, is {:g}\n",
                     verdict.error, verdict.checked, verdict.worst->place, verdict.worst->expected,
                     verdict.worst->actual);
}

/// Which algorithms were chosen, and why: a line for each.
std::vector<std::string> choices_of(const std::vector<Row>& rows) {
  std::vector<std::string> notes;
  std::string last;
  for (const Row& row : rows) {
    if (row.algorithm.empty() || row.algorithm == last) continue;
    last = row.algorithm;
    notes.push_back(row.reason);
  }
  return notes;
}

void add_rows(const Options& options, const std::vector<Row>& rows, runtime::Result& result) {
  for (const Row& row : rows) {
    const std::string region = fmt::format("{} B", row.bytes);
    result.region_names.push_back(region);
    result.seconds.push_back(row.wall_seconds);
    result.starts.push_back(row.starts);
    if (!row.modelled_seconds.empty()) {
      auto& modelled = result.modelled_seconds.emplace_back();
      for (const double seconds : row.modelled_seconds) modelled.push_back({seconds});
    }
    for (Metric& metric : metrics_of(options, row, region)) result.metrics.push_back(std::move(metric));
  }
}

/// "(modelled and emulated)", "(measured)" or "(emulated)".
const char* kinds_of(const runtime::Result& result) {
  if (!result.modelled_seconds.empty()) return "modelled and emulated";
  return runtime::kind_of(result, std::nullopt) == TimeKind::kMeasured ? "measured" : "emulated";
}

std::string heading_of(const Options& options, const runtime::Result& result) {
  return fmt::format("{} over {}{} ({}), {} ranks, calls from {}, {}, {}{}{}\n", options.name,
                     options.transport,
                     options.system.empty() ? "" : fmt::format(" of {}", options.system.filename().string()),
                     kinds_of(result), options.ranks, issuer(options), mode(options), name_of(options.type),
                     collectives::reduces(options.operation) && options.act == Act::kCollective
                         ? fmt::format(", {}", name_of(options.reduction))
                         : "",
                     options.is_compressed ? ", as float16 on the wire" : "");
}

std::string table_of(const Options& options, const std::vector<Row>& rows, const runtime::Result& result) {
  std::string text = heading_of(options, result);
  std::size_t width = 9;
  for (const Row& row : rows) width = std::max(width, row.algorithm.size());
  const auto line = [&](const auto& bytes, const std::string& algorithm, const std::string& time,
                        const std::string& rate, const std::string& bus, const std::string& last) {
    text += fmt::format("{:>10}  {:<{}}  {:>13}  {:>14}  {:>8}  {:>13}\n", bytes, algorithm, width, time,
                        rate, bus, last);
  };
  const bool is_modelled = !result.modelled_seconds.empty();
  line("bytes", "algorithm", is_modelled ? "modelled [us]" : "best [us]", "algorithm GB/s", "bus GB/s",
       is_modelled ? "emulated [ms]" : "median [us]");
  for (const Row& row : rows) {
    const double seconds = row.seconds();
    const auto rate = [&](double bytes) {
      return bytes > 0 && seconds > 0 ? fmt::format("{:.3f}", bytes / seconds * 1e-9) : std::string("-");
    };
    const double wall = statistics(row.spans()).median;
    line(row.bytes, row.algorithm.empty() ? "-" : row.algorithm, fmt::format("{:.3f}", seconds * 1e6),
         rate(static_cast<double>(row.bytes)), rate(bus_bytes(options, row)),
         fmt::format("{:.3f}", wall * (is_modelled ? 1e3 : 1e6)));
  }
  for (const std::string& note : result.notes) text += packed(words("note: " + note), terminal_width(), 2);
  if (!result.validated) return text + "not checked: a barrier moves no elements\n";
  return text + verdict_line(result.verdicts.front().verdict);
}

}  // namespace

runtime::Result result_of(runtime::Communicator& ranks, const Options& options, const std::vector<Row>& rows,
                          const Measurer& measurer) {
  runtime::Result result;
  result.program = "fm_collective";
  result.benchmark = "collective";
  result.variant = fmt::format("{}-{}", issuer(options), mode(options));
  if (options.medium == Medium::kEngine) {
    // What kernels and the engine agree on: nothing else is built for a device.
    const auto file = runtime::kernels_folder() / "common" / "accl.hpp";
    const std::string text = runtime::file_text(file, "kernel file", "run the suite from its folder");
    result.kernel = {file.filename().string(), content_digest(text), "shipped"};
  }
  result.ranks_kind = ranks.size() == 1 && ranks.kind() == "in-process" ? "single" : ranks.kind();
  result.mpi_library = ranks.library();
  result.device = measurer.device();
  const bool is_emulated = options.medium != Medium::kTransport || result.device.emulated();
  result.placement = gather_placement(ranks, runtime::placement_on(result.device, is_emulated));
  set_parameters(options, result.parameters);
  result.repetitions = options.repetitions;
  result.warmup = options.medium == Medium::kTransport ? 1 : 0;
  add_rows(options, rows, result);
  const runtime::Result::RankVerdict elements = verdict_of(options, rows);
  result.validated = elements.verdict.checked > 0;
  if (result.validated) result.verdicts = {elements};
  result.notes = choices_of(rows);
  for (const std::string& note : measurer.notes()) result.notes.push_back(note);
  for (const std::string& note : company_notes(ranks, result)) result.notes.push_back(note);
  const bool is_valid = elements.verdict.passed();
  result.exit_code = static_cast<int>(is_valid ? ExitCode::kValid : ExitCode::kInvalidResult);
  runtime::check_kinds(result);
  return result;
}

void publish(const Options& options, const std::vector<Row>& rows, const runtime::Result& result) {
  runtime::hold_result(result, options.json, table_of(options, rows, result));
}

}  // namespace fabricmark::microbench
