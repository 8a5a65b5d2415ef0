// What a person reads on the terminal: lines are broken between names and numbers, never within one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/statistics.hpp"
#include "base/terminal.hpp"
#include "runtime/result.hpp"

namespace fabricmark::runtime {

namespace {

constexpr std::size_t kIndent = 9;  // below "valid" and "energy"

/// What tells a measured or derived metric from the others.
template <typename AnyMetric>
std::string axes_text(const AnyMetric& metric) {
  std::string text;
  for (const Axis& axis : metric.axes) {
    if (!text.empty()) text += ' ';
    const auto* number = std::get_if<std::int64_t>(&axis.value);
    text += number != nullptr ? std::to_string(*number) : std::get<std::string>(axis.value);
  }
  return text.empty() ? metric.name : text;
}

/// The kinds of all metrics, each once, in their order; without metrics that of the wall clock.
std::vector<std::string> kinds_of(const Result& result) {
  std::vector<std::string> kinds;
  const auto add = [&](const std::optional<TimeKind>& kind) {
    const std::string name = name_of(kind_of(result, kind));
    if (std::ranges::find(kinds, name) == kinds.end()) kinds.push_back(name);
  };
  for (const Metric& metric : result.metrics) add(metric.kind);
  for (const DerivedMetric& metric : result.derived) add(metric.kind);
  if (kinds.empty()) add(std::nullopt);
  return kinds;
}

/// Whose results they are, with what settings.
std::string heading(const Result& result, std::size_t width) {
  // Runs of different kernels of the user's must not look alike.
  const std::string kernel =
      result.kernel.origin == "shipped" ? result.variant : result.variant + " " + result.kernel.file;
  const std::size_t ranks = result.placement.size();
  std::vector<std::string> settings;
  for (const auto& [name, value] : result.parameters.all()) settings.push_back(name + "=" + to_text(value));
  return packed({fmt::format("{} {} ({}, {})", result.benchmark, kernel,
                             result.optimized ? "optimized" : "base", fmt::join(kinds_of(result), " and ")),
                 fmt::format("on {},", result.device.name),
                 fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s")},
                width, 2) +
         packed(settings, width, 2);
}

enum Field { kName, kKind, kBest, kMedian, kDeviation, kUnit, kFields };
using Row = std::array<std::string, kFields>;

std::vector<Row> rows_of(const Result& result) {
  const bool with_kind = kinds_of(result).size() > 1;
  const auto kind = [&](const auto& metric) -> std::string {
    return with_kind ? name_of(kind_of(result, metric.kind)) : "";
  };
  std::vector<Row> rows{{"", with_kind ? "kind" : "", "best", "median", "deviation", "unit"}};
  for (const Metric& metric : result.metrics) {
    const std::vector<double> values = values_of(result, metric);
    const Statistics summary = statistics(values);
    rows.push_back({axes_text(metric), kind(metric), fmt::format("{:.4g}", best_of(values, metric.better)),
                    fmt::format("{:.4g}", summary.median), fmt::format("{:.2g}", summary.standard_deviation),
                    metric.unit});
  }
  for (const DerivedMetric& metric : result.derived) {
    rows.push_back({axes_text(metric), kind(metric), fmt::format("{:.4g}", metric.best),
                    fmt::format("{:.4g}", metric.median), "", metric.unit});
  }
  return rows;
}

/// Columns as wide as what is in them; names have lines of their own where a row would not fit.
std::string metrics_table(const Result& result, std::size_t width) {
  constexpr std::size_t kGap = 2;
  const std::vector<Row> rows = rows_of(result);
  std::array<std::size_t, kFields> widths{};
  for (const Row& row : rows) {
    for (std::size_t field = 0; field < kFields; ++field) {
      widths.at(field) = std::max(widths.at(field), columns(row.at(field)));
    }
  }
  const bool with_kind = widths[kKind] > 0;
  std::size_t whole = kGap * (kFields - (with_kind ? 1 : 2));
  for (const std::size_t each : widths) whole += each;
  const bool beside = whole <= width;
  std::string text;
  for (const Row& row : rows) {
    std::string line = row[kName];
    if (beside) {
      line += std::string(widths[kName] - columns(line), ' ');
    } else if (!line.empty()) {
      line += '\n';
    }
    if (with_kind) {
      line += std::string(kGap, ' ') + row[kKind] + std::string(widths[kKind] - columns(row[kKind]), ' ');
    }
    for (const Field field : {kBest, kMedian, kDeviation}) {
      line += std::string(kGap + widths.at(field) - columns(row.at(field)), ' ') + row.at(field);
    }
    text += line + std::string(kGap, ' ') + row[kUnit] + '\n';
  }
  return text;
}

std::string verdict_lines(const Result::RankVerdict& entry, std::size_t width) {
  const Verdict& verdict = entry.verdict;
  std::vector<std::string> parts{fmt::format("{:<8}", verdict.passed() ? "valid" : "INVALID"),
                                 verdict.name + ":"};
  for (const std::string& word : words(verdict.measure)) parts.push_back(word);
  parts.push_back(fmt::format("{:.3g},", verdict.error));
  parts.push_back(fmt::format("at most {:.3g} allowed,", verdict.threshold));
  parts.push_back(fmt::format("{} values checked", verdict.checked));
  std::string text = packed(parts, width, kIndent);
  if (!verdict.passed() && verdict.worst) {
    const std::string repetition =
        verdict.repetition ? fmt::format(" in repetition {}", *verdict.repetition) : "";
    text += std::string(kIndent, ' ') + packed({fmt::format("worst at {}", verdict.worst->place),
                                                fmt::format("on rank {}{}:", entry.rank, repetition),
                                                fmt::format("expected {:.9g},", verdict.worst->expected),
                                                fmt::format("found {:.9g}", verdict.worst->actual)},
                                               width - std::min(width, kIndent), kIndent);
  }
  return text;
}

/// Of the metrics that have the first one's name and unit, the one with the largest value, and this.
std::pair<const Metric*, double> best_of_its_name(const Result& result) {
  const Metric& first = result.metrics.front();
  std::pair<const Metric*, double> found{&first, 0};
  for (const Metric& metric : result.metrics) {
    if (metric.name != first.name || metric.unit != first.unit) continue;
    const double best = best_of(values_of(result, metric), metric.better);
    if (best > found.second) found = {&metric, best};
  }
  return found;
}

std::string energy_lines(const Result& result, const power::Energy& energy, const std::string& name,
                         std::size_t width) {
  const std::string per_repetition =
      fmt::format("{:.4g} J per repetition", energy.joules / result.repetitions);
  std::vector<std::string> parts{
      fmt::format("{:<8}", "energy"), name + ":", fmt::format("{:.4g} J,", energy.joules),
      fmt::format("{:.4g} W,", energy.watts()), fmt::format("peak {:.4g} W,", energy.peak_watts)};
  // The best of all operations over the peak, as in Tables 3.11 and 3.12 of Meyer 2024: the mean holds times
  // of little work. And of what was measured only: an emulator's rate over the host's watts is nothing.
  if (!result.metrics.empty() && result.metrics.front().better == Better::kHigher &&
      kind_of(result, result.metrics.front().kind) == TimeKind::kMeasured) {
    const auto [metric, best] = best_of_its_name(result);
    parts.push_back(per_repetition + ",");
    parts.push_back(
        fmt::format("{} {:.4g} {} per W", axes_text(*metric), best / energy.peak_watts, metric->unit));
  } else {
    parts.push_back(per_repetition);
  }
  return packed(parts, width, kIndent);
}

/// An entry for each domain, and one for all domains of a source where they can be added up.
std::string all_energy_lines(const Result& result, std::size_t width) {
  std::string text;
  std::map<std::string, std::vector<power::Energy>> sources;
  for (const power::Energy& energy : result.energy) {
    text += energy_lines(result, energy, energy.domain + " (" + energy.source + ")", width);
    sources[energy.source].push_back(energy);
  }
  for (const auto& [source, parts] : sources) {
    if (parts.size() < 2 || !power::adds_up(source)) continue;
    power::Energy sum{.domain = "", .source = source, .joules = 0, .seconds = parts.front().seconds};
    for (const power::Energy& part : parts) {
      sum.joules += part.joules;
      sum.peak_watts += part.peak_watts;
    }
    text += energy_lines(result, sum, "all of " + source, width);
  }
  return text;
}

}  // namespace

std::string to_table(const Result& result, std::size_t width) {
  std::string text = heading(result, width) + metrics_table(result, width);
  for (const Result::RankVerdict& entry : result.verdicts) text += verdict_lines(entry, width);
  if (!result.validated) text += "skipped  validation: the results were not checked\n";
  text += all_energy_lines(result, width);
  for (const std::string& note : result.notes) text += packed(words("note: " + note), width, 6);
  return text;
}

std::string to_line(const Result& result) {
  const auto is_wrong = [](const Result::RankVerdict& entry) { return !entry.verdict.passed(); };
  const std::size_t checks = result.verdicts.size();
  const auto wrong = std::ranges::find_if(result.verdicts, is_wrong);
  std::string text = fmt::format("{} {}: ", result.benchmark, result.variant);
  if (!result.validated) {
    text += "not checked";
  } else if (checks == 0) {
    text += "INVALID, nothing was checked";
  } else if (wrong == result.verdicts.end()) {
    text += fmt::format("valid, {} check{}", checks, checks == 1 ? "" : "s");
  } else {
    text += fmt::format("INVALID, {} of {} checks, {}", std::ranges::count_if(result.verdicts, is_wrong),
                        checks, wrong->verdict.name);
  }
  if (!result.metrics.empty()) {
    const Metric& first = result.metrics.front();
    text +=
        fmt::format("; {} {:.4g} {} ({})", axes_text(first), best_of(values_of(result, first), first.better),
                    first.unit, name_of(kind_of(result, first.kind)));
  }
  return text + '\n';
}

std::string devices_table(const std::vector<device::FoundDevice>& devices, std::size_t width) {
  constexpr const char* kFormat = "{:<9}{:<7}{:<9}{:<7}{:<9}";
  std::string text = fmt::format(kFormat, "platform", "device", "class", "units", "memory") + " name\n";
  for (const device::FoundDevice& found : devices) {
    const device::DeviceInfo& info = found.info;
    const std::string memory = fmt::format("{:.1f} GB", static_cast<double>(info.global_memory_bytes) / 1e9);
    text += packed({fmt::format(kFormat, info.platform_index, info.device_index,
                                device::class_name(info.device_class), info.compute_units, memory),
                    info.platform + ":", info.name},
                   width, 9);
  }
  return text;
}

}  // namespace fabricmark::runtime
