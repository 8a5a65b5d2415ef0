#include "microbench/collective/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/terminal.hpp"
#include "fabric/collectives/elements.hpp"
#include "fabric/collectives/operation.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::microbench {

namespace {

using runtime::Better;
using runtime::Metric;
using runtime::TimeKind;

const char* issuer(const Options& options) { return options.is_from_logic ? "logic" : "host"; }
const char* mode(const Options& options) { return options.uses_streams ? "streaming" : "buffered"; }

double bus_bytes(const Options& options, const Row& row) {
  const int ranks = static_cast<int>(row.modelled_seconds.size());
  return options.act == Act::kCollective ? collectives::bus_bytes(options.operation, ranks, row.bytes)
                                         : static_cast<double>(row.bytes);
}

struct Wrong {
  std::size_t checked = 0;
  std::size_t wrong = 0;
  const Row* first = nullptr;
};

Wrong wrong_of(const std::vector<Row>& rows) {
  Wrong all;
  for (const Row& row : rows) {
    if (all.first == nullptr && row.wrong > 0) all.first = &row;
    all.checked += row.checked;
    all.wrong += row.wrong;
  }
  return all;
}

std::string place_of(const Row& row) {
  return fmt::format("element {} of rank {}, {} B", row.first_wrong.element, row.first_wrong.rank, row.bytes);
}

runtime::Result::RankVerdict verdict_of(const Options& options, const std::vector<Row>& rows) {
  const Wrong all = wrong_of(rows);
  runtime::Verdict verdict{.name = options.name,
                           .error = static_cast<double>(all.wrong),
                           .threshold = 0,
                           .measure = "wrong elements",
                           .checked = all.checked};
  int rank = 0;
  if (all.first != nullptr) {
    const Row::Place& place = all.first->first_wrong;
    rank = place.rank;
    verdict.worst = {place_of(*all.first), place.expected, place.actual};
  }
  return {std::move(verdict), rank};
}

std::vector<Metric> metrics_of(const Options& options, const Row& row, const std::string& lap) {
  std::vector<runtime::Axis> axes{{"operation", options.name},
                                  {"message_bytes", static_cast<std::int64_t>(row.bytes)}};
  if (!row.algorithm.empty()) axes.push_back({"algorithm", row.algorithm});
  const auto metric = [&](const std::string& name, TimeKind kind, double work) -> Metric {
    if (work > 0) return {name, axes, lap, "GB/s", 1e-9, Better::kHigher, work, "B", kind};
    return {name, axes, lap, "us", 1e6, Better::kLower, 0, "", kind};
  };
  std::vector<Metric> found{metric("latency", TimeKind::kModelled, 0),
                            metric("emulation_time", TimeKind::kEmulated, 0)};
  if (row.bytes == 0) return found;
  found.push_back(metric("bandwidth", TimeKind::kModelled, static_cast<double>(row.bytes)));
  const double bus = bus_bytes(options, row);
  if (bus > 0) found.push_back(metric("bus_bandwidth", TimeKind::kModelled, bus));
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
  parameters.set("system", options.system.filename().string());
  parameters.set("drop", options.drop);
  parameters.set("timeout", options.timeout_seconds);
  if (!options.algorithm.empty()) parameters.set("algorithm", options.algorithm);
  if (!options.topology.empty()) parameters.set("topology", options.topology);
  if (options.choices.mtu_bytes > 0) parameters.set("mtu", number(options.choices.mtu_bytes));
  if (options.choices.window_bytes > 0) parameters.set("window", number(options.choices.window_bytes));
  if (options.rx_buffers) parameters.set("rx_buffers", number(*options.rx_buffers));
  if (options.rx_bytes) parameters.set("rx_bytes", number(*options.rx_bytes));
  if (options.eager_bytes) parameters.set("eager_limit", number(*options.eager_bytes));
}

std::string verdict_line(const std::vector<Row>& rows) {
  const Wrong all = wrong_of(rows);
  if (all.wrong == 0) return fmt::format("valid: {} elements checked\n", all.checked);
  return fmt::format("INVALID: {} of {} elements wrong; the first: {}: expected {:g}, is {:g}\n", all.wrong,
                     all.checked, place_of(*all.first), all.first->first_wrong.expected,
                     all.first->first_wrong.actual);
}

}  // namespace

std::vector<std::string> notes_of(const std::vector<Row>& rows) {
  std::vector<std::string> notes;
  std::string last;
  for (const Row& row : rows) {
    if (row.algorithm.empty() || row.algorithm == last) continue;
    last = row.algorithm;
    notes.push_back(row.reason);
  }
  return notes;
}

runtime::Result result_of(const Options& options, const std::vector<Row>& rows,
                          const std::vector<std::string>& command, const std::string& started,
                          std::chrono::duration<double> duration) {
  runtime::Result result;
  result.program = command.front();
  result.benchmark = "collective";
  result.variant = fmt::format("{}-{}", issuer(options), mode(options));
  // What kernels and the engine agree on: nothing else is built for a device.
  const auto file = runtime::kernels_folder() / "common" / "accl.hpp";
  const std::string text = runtime::file_text(file, "kernel file", "run the suite from its folder");
  result.kernel = {file.filename().string(), content_digest(text), "shipped"};
  result.started = started;
  result.duration_seconds = duration.count();
  result.command = command;
  result.ranks_kind = options.ranks == 1 ? "single" : "in-process";
  result.device = device::Device::none().info();
  for (int rank = 0; rank < options.ranks; ++rank) {
    result.placement.push_back({.host = describe_host().name,
                                .device = result.device.name,
                                .device_index = 0,
                                .compute_units = result.device.compute_units,
                                .is_emulated = true});
  }
  set_parameters(options, result.parameters);
  result.repetitions = 1;
  for (const Row& row : rows) {
    const std::string lap = fmt::format("{} B", row.bytes);
    result.lap_names.push_back(lap);
    auto& wall = result.seconds.emplace_back();
    auto& modelled = result.modelled_seconds.emplace_back();
    for (const double seconds : row.wall_seconds) wall.push_back({seconds});
    for (const double seconds : row.modelled_seconds) modelled.push_back({seconds});
    for (Metric& metric : metrics_of(options, row, lap)) result.metrics.push_back(std::move(metric));
  }
  result.verdicts = {verdict_of(options, rows)};
  result.notes = notes_of(rows);
  result.notes.emplace_back("modelled times: calls, copies and packets of an engine as the system has them");
  const bool is_valid = wrong_of(rows).wrong == 0;
  result.exit_code = static_cast<int>(is_valid ? ExitCode::kValid : ExitCode::kInvalidResult);
  runtime::check_kinds(result);
  return result;
}

std::string table_of(const Options& options, const std::vector<Row>& rows) {
  std::string text =
      fmt::format("{} over {} of {} (modelled and emulated), {} ranks, calls from {}, {}, {}{}{}\n",
                  options.name, options.transport, options.system.filename().string(), options.ranks,
                  issuer(options), mode(options), name_of(options.type),
                  collectives::reduces(options.operation) && options.act == Act::kCollective
                      ? fmt::format(", {}", name_of(options.reduction))
                      : "",
                  options.is_compressed ? ", as float16 on the wire" : "");
  std::size_t width = 9;
  for (const Row& row : rows) width = std::max(width, row.algorithm.size());
  const auto line = [&](const auto& bytes, const std::string& algorithm, const std::string& time,
                        const std::string& rate, const std::string& bus, const std::string& wall) {
    text += fmt::format("{:>10}  {:<{}}  {:>13}  {:>14}  {:>8}  {:>12}\n", bytes, algorithm, width, time,
                        rate, bus, wall);
  };
  line("bytes", "algorithm", "modelled [us]", "algorithm GB/s", "bus GB/s", "emulated [ms]");
  for (const Row& row : rows) {
    const double seconds = row.seconds();
    const auto rate = [&](double bytes) {
      return bytes > 0 && seconds > 0 ? fmt::format("{:.3f}", bytes / seconds * 1e-9) : std::string("-");
    };
    line(row.bytes, row.algorithm.empty() ? "-" : row.algorithm, fmt::format("{:.3f}", seconds * 1e6),
         rate(static_cast<double>(row.bytes)), rate(bus_bytes(options, row)),
         fmt::format("{:.3f}", row.emulated_seconds() * 1e3));
  }
  for (const std::string& note : notes_of(rows)) {
    text += packed(words("note: " + note), terminal_width(), 2);
  }
  return text + verdict_line(rows);
}

void publish(const Options& options, const std::vector<Row>& rows, const runtime::Result& result) {
  if (options.json && *options.json == "-") {
    write_standard_output(to_json(result));
    return;
  }
  if (options.json) write_atomically(*options.json, to_json(result));
  write_standard_output(table_of(options, rows));
}

}  // namespace fabricmark::microbench
