#include "microbench/omb/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/terminal.hpp"
#include "microbench/omb/options_check.hpp"
#include "microbench/omb/text.hpp"
#include "runtime/company.hpp"
#include "runtime/exchange.hpp"

namespace fabricmark::microbench::omb {

namespace {

using runtime::Axis;
using runtime::Better;
using runtime::DerivedMetric;
using runtime::Metric;
using runtime::TimeKind;

/// Means of parts of the iterations.
std::vector<double> means_of(const std::vector<double>& seconds) {
  std::vector<double> means;
  for (const auto& [first, last] : batches_of(seconds.size())) {
    const double sum = std::accumulate(seconds.begin() + static_cast<std::ptrdiff_t>(first),
                                       seconds.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
    means.push_back(sum / static_cast<double>(last - first));
  }
  return means;
}

std::size_t iterations_of(const Row& row) {
  std::size_t most = 0;
  for (const auto& one : row.seconds) most = std::max(most, one.size());
  return most;
}

class Filler {
 public:
  Filler(const Options& options, runtime::Result& result) : options_(options), result_(result) {}
  void add(const Row& row);

 private:
  [[nodiscard]] std::vector<Axis> axes(const Row& row, const std::string& statistic = {}) const;
  void add_region(const Row& row, const std::string& region);
  void add_rates(const Row& row, const std::string& region);
  /// A metric of one sample: a mean of all iterations and ranks, or the statistic of them that is named.
  void add_single(const Row& row, const std::string& name, double seconds, const std::string& statistic = {});
  [[nodiscard]] std::string region_of(const Row& row) const;
  void add_statistics(const Row& row);
  void add_overlap(const Row& row);
  [[nodiscard]] std::optional<TimeKind> kind(const Row& row) const {
    return row.is_modelled() ? std::optional(TimeKind::kModelled) : std::nullopt;
  }
  [[nodiscard]] bool is_rate() const {
    return options_.program->family == Family::kBandwidth || options_.program->family == Family::kRate;
  }

  const Options& options_;
  runtime::Result& result_;
};

std::vector<Axis> Filler::axes(const Row& row, const std::string& statistic) const {
  std::vector<Axis> found;
  if (options_.types.size() > 1) found.push_back({"data_type", std::string(mpi_name(row.type))});
  if (options_.program->has_sizes()) found.push_back({"message_bytes", static_cast<std::int64_t>(row.bytes)});
  if (!row.algorithm.empty() && row.algorithm != "library") found.push_back({"algorithm", row.algorithm});
  if (!statistic.empty()) found.push_back({"statistic", statistic});
  return found;
}

std::string Filler::region_of(const Row& row) const {
  return fmt::format("{} B{}", row.bytes,
                     options_.types.size() > 1 ? fmt::format(" {}", mpi_name(row.type)) : "");
}

void Filler::add_region(const Row& row, const std::string& region) {
  result_.region_names.push_back(region);
  // Who does not measure, the first ranks do for: what they take the other one of the pair takes.
  if (!row.batch_seconds.empty()) {
    result_.starts.resize(result_.seconds.size());
    auto& seconds = result_.seconds.emplace_back();
    auto& starts = result_.starts.emplace_back();
    for (std::size_t rank = 0; rank < row.seconds.size(); ++rank) {
      seconds.push_back(row.batch_seconds[rank % row.measuring()]);
      starts.push_back(row.batch_starts[rank % row.measuring()]);
    }
    return;
  }
  runtime::Result::PerRank batches;
  for (std::size_t rank = 0; rank < row.seconds.size(); ++rank) {
    const std::vector<double>& own = row.seconds[rank];
    batches.push_back(means_of(own.empty() ? row.seconds[rank % row.measuring()] : own));
  }
  if (!row.is_modelled()) {
    result_.seconds.push_back(std::move(batches));
    return;
  }
  auto& wall = result_.seconds.emplace_back();
  for (const double seconds : row.emulation_seconds) wall.push_back({seconds});
  result_.modelled_seconds.push_back(std::move(batches));
}

void Filler::add_rates(const Row& row, const std::string& region) {
  const auto rate = [&](const std::string& name, double work) {
    result_.metrics.push_back({name, axes(row), region, "GB/s", 1e-9, Better::kHigher, work, "B", kind(row)});
  };
  const Program& program = *options_.program;
  const auto bytes = static_cast<double>(row.bytes);
  if (!program.is_collective()) {
    const auto messages = static_cast<double>(row.window * row.measuring());
    rate("bandwidth", bytes * messages);
    if (program.family == Family::kRate) {
      result_.metrics.push_back(
          {"message_rate", axes(row), region, "1/s", 1, Better::kHigher, messages, "messages", kind(row)});
    }
  } else if (row.bytes > 0) {
    const auto ranks = static_cast<int>(row.seconds.size());
    // nccl-tests' factors are those of one rank's elements.
    const std::size_t own = program.operation == collectives::Operation::kReduceScatter
                                ? row.bytes / static_cast<std::size_t>(ranks)
                                : row.bytes;
    rate("bandwidth", bytes);
    const double bus = collectives::bus_bytes(program.operation, ranks, own);
    if (bus > 0) rate("bus_bandwidth", bus);
  }
}

void Filler::add_single(const Row& row, const std::string& name, double seconds,
                        const std::string& statistic) {
  const std::string region = fmt::format("{} {} {}", region_of(row), name, statistic);
  result_.region_names.push_back(region);
  const runtime::Result::PerRank samples(row.seconds.size(), {seconds});
  if (row.is_modelled()) {
    result_.seconds.push_back(result_.seconds.back());  // of the emulation as a whole
    result_.modelled_seconds.push_back(samples);
  } else {
    result_.seconds.push_back(samples);
  }
  Metric metric{name, axes(row, statistic), region, "us", 1e6, Better::kLower, 0, "", kind(row)};
  if (name == "bandwidth") {
    const auto bytes = static_cast<double>(row.bytes * row.window * row.measuring());
    metric = {name, axes(row, statistic), region, "GB/s", 1e-9, Better::kHigher, bytes, "B", kind(row)};
  }
  metric.statistic = statistic.empty() ? "mean" : statistic;
  result_.metrics.push_back(std::move(metric));
}

void Filler::add_statistics(const Row& row) {
  const std::string name = is_rate() ? "bandwidth" : "latency";
  for (const int percent : options_.percentiles) {
    add_single(row, name, row.percentile(is_rate() ? 100 - percent : percent), fmt::format("P{}", percent));
  }
  if (!options_.is_full || is_rate()) return;
  add_single(row, name, row.least(), "minimum");
  add_single(row, name, row.greatest(), "maximum");
}

void Filler::add_overlap(const Row& row) {
  const Overlap& one = *row.overlap;
  add_single(row, "overall", one.overall);
  add_single(row, "compute", one.compute);
  add_single(row, "init", one.init);
  if (options_.probes > 0) add_single(row, "mpi_test", one.test);
  add_single(row, "mpi_wait", one.wait);
  const double share = one.share(row.mean());
  result_.derived.push_back({"overlap", axes(row), "%", Better::kHigher, share, share,
                             "100 - (overall - compute) / latency * 100, at least 0", kind(row)});
}

void Filler::add(const Row& row) {
  const std::string region = region_of(row);
  add_region(row, region);
  if (!is_rate()) {
    result_.metrics.push_back({"latency", axes(row), region, "us", 1e6, Better::kLower, 0, "", kind(row)});
  }
  if (options_.program->family != Family::kLatency) add_rates(row, region);
  if (row.is_modelled()) {
    result_.metrics.push_back(
        {"emulation_time", axes(row), region, "us", 1e6, Better::kLower, 0, "", TimeKind::kEmulated});
  }
  add_statistics(row);
  if (row.overlap) add_overlap(row);
}

void set_parameters(const Options& options, runtime::Parameters& parameters) {
  const Program& program = *options.program;
  parameters.set("placement", options.placement());
  parameters.set("transport", options.transport);
  parameters.set("buffers", std::string(options.has_many_buffers ? "multiple" : "single"));
  if (options.types.size() == 1 && program.has_sizes()) {
    parameters.set("data_type", std::string(mpi_name(options.types[0])));
  }
  if (program.windows > 0) parameters.set("window_size", std::int64_t{options.window});
  if (options.iterations) parameters.set("iterations", static_cast<std::int64_t>(*options.iterations));
  if (options.warmup) parameters.set("warmup", static_cast<std::int64_t>(*options.warmup));
  if (program.is_collective() && collectives::has_root(program.operation)) {
    parameters.set("root", std::int64_t{options.root});
  }
  if (program.family == Family::kOverlap) parameters.set("test_calls", std::int64_t{options.probes});
  if (!options.is_on_hosts()) {
    parameters.set("api", options.api);
    parameters.set("memory", options.memory);
  }
  for (std::size_t i = 0; i + 1 < options.of_boards.size(); i += 2) {
    const std::string name = options.of_boards[i].substr(2);
    const std::string& value = options.of_boards[i + 1];
    parameters.set(name, name == "system" ? value.substr(value.find_last_of('/') + 1) : value);
  }
}

/// Of all sizes of a type.
runtime::Result::RankVerdict verdict_of(const Options& options, collectives::Type type,
                                        const std::vector<Row>& rows) {
  const std::string of_type = options.types.size() > 1 ? fmt::format(" {}", mpi_name(type)) : "";
  auto all = element_verdict(options.program->name + of_type);
  Sampled sampled;
  for (const Row& row : rows) {
    if (row.type != type) continue;
    sampled.checked += row.sampled.checked;
    sampled.of += row.sampled.of;
    add(all, row.found, fmt::format("{}, {} B", row.found.place, row.bytes));
  }
  all.verdict.sampled = {"iterations", static_cast<std::size_t>(sampled.checked),
                         static_cast<std::size_t>(sampled.of)};
  return all;
}

/// That no size went faster than its way can carry.
runtime::Result::RankVerdict limit_verdict(const Limit& limit, const Options& options,
                                           const std::vector<Row>& rows) {
  const int directions = options.program->windows == 2 ? 2 : 1;
  runtime::Verdict verdict{.name = "bandwidth above the limit",
                           .threshold = limit.bytes_per_second * directions * kLimitMargin * 1e-9,
                           .measure = fmt::format("largest bandwidth of a pair [GB/s], by {}", limit.source)};
  for (const Row& row : rows) {
    const double rate =
        megabytes_per_second(row, row.together()) / static_cast<double>(row.measuring()) * 1e-3;
    ++verdict.checked;
    if (rate <= verdict.error) continue;
    verdict.error = rate;
    if (rate > verdict.threshold) {
      verdict.worst = {fmt::format("{} B", row.bytes), limit.bytes_per_second * directions * 1e-9, rate};
    }
  }
  return {std::move(verdict), 0};
}

}  // namespace

runtime::Result result_of(runtime::Communicator& ranks, const Options& options, const std::vector<Row>& rows,
                          const Measurer& measurer, const std::optional<Limit>& limit) {
  runtime::Result result;
  result.program = options.program_name;
  result.benchmark = options.program->name;
  result.variant =
      fmt::format("{}-{}", static_cast<char>(options.places[0]), static_cast<char>(options.places[1]));
  result.kernel = measurer.kernel();
  result.ranks_kind = ranks.size() == 1 && ranks.kind() == "in-process" ? "single" : ranks.kind();
  result.mpi_library = ranks.library();
  result.device = measurer.device();
  const bool is_emulated = is_over_boards(options) || result.device.emulated();
  result.placement = gather_placement(ranks, runtime::placement_on(result.device, is_emulated));
  set_parameters(options, result.parameters);
  result.repetitions = static_cast<int>(kBatches);
  for (const Row& row : rows) {
    result.repetitions = std::min(result.repetitions, static_cast<int>(iterations_of(row)));
  }
  Filler filler(options, result);
  for (const Row& row : rows) filler.add(row);
  for (const collectives::Type type : options.types)
    result.verdicts.push_back(verdict_of(options, type, rows));
  if (limit && !options.program->is_collective() && options.program->windows > 0) {
    result.verdicts.push_back(limit_verdict(*limit, options, rows));
  }
  result.notes = measurer.notes();
  for (const std::string& note : company_notes(ranks, result)) result.notes.push_back(note);
  const bool is_valid =
      std::ranges::all_of(result.verdicts, [](const auto& one) { return one.verdict.passed(); });
  result.exit_code = static_cast<int>(is_valid ? ExitCode::kValid : ExitCode::kInvalidResult);
  runtime::check_kinds(result);
  return result;
}

std::string closing_text(const runtime::Result& result) {
  std::string text;
  for (const std::string& note : result.notes) text += fmt::format("# note: {}\n", note);
  for (const auto& [verdict, rank] : result.verdicts) {
    if (verdict.passed()) continue;
    text += fmt::format("# INVALID: {}: {:g} {}; the first: {} on rank {}: expected {:g}, is {:g}\n",
                        verdict.name, verdict.error, verdict.measure, verdict.worst->place, rank,
                        verdict.worst->expected, verdict.worst->actual);
  }
  if (text.find("# INVALID") == std::string::npos) {
    std::size_t checked = 0;
    runtime::Sample all;
    for (const auto& [verdict, rank] : result.verdicts) {
      if (!verdict.sampled) continue;
      checked += verdict.checked;
      all.checked += verdict.sampled->checked;
      all.of += verdict.sampled->of;
    }
    text += fmt::format("# Validation: Pass, {} elements, {} of {} iterations checked\n", checked,
                        all.checked, all.of);
  }
  return text;
}

}  // namespace fabricmark::microbench::omb
