// What a person reads on the terminal.
#include <fmt/format.h>

#include <map>

#include "harness/result.hpp"
#include "harness/statistics.hpp"

namespace fabricmark::harness {

namespace {

/// What tells a measured or derived figure from the others.
template <typename Figure>
std::string axes_text(const Figure& figure) {
  std::string text;
  for (const Axis& axis : figure.axes) {
    if (!text.empty()) text += ' ';
    const auto* number = std::get_if<std::int64_t>(&axis.value);
    text += number != nullptr ? std::to_string(*number) : std::get<std::string>(axis.value);
  }
  return text.empty() ? figure.name : text;
}

std::string verdict_line(const Result::RankVerdict& entry) {
  const Verdict& verdict = entry.verdict;
  std::string line = fmt::format("{:<8} {}: {} {:.3g}, at most {:.3g} allowed, {} values checked\n",
                                 verdict.passed() ? "valid" : "INVALID", verdict.name, verdict.measure,
                                 verdict.error, verdict.threshold, verdict.checked);
  if (!verdict.passed() && verdict.worst) {
    line += fmt::format("         worst at {} on rank {}{}: expected {:.9g}, found {:.9g}\n",
                        verdict.worst->place, entry.rank,
                        verdict.repetition ? fmt::format(" in repetition {}", *verdict.repetition) : "",
                        verdict.worst->expected, verdict.worst->actual);
  }
  return line;
}

std::string energy_line(const Result& result, const power::Energy& energy, const std::string& name) {
  std::string line = fmt::format("energy   {}: {:.4g} J, {:.4g} W, {:.4g} J per repetition", name,
                                 energy.joules, energy.watts(), energy.joules / result.repetitions);
  // The median figure: power is a mean over all repetitions, not over the best.
  if (!result.metrics.empty() && result.metrics.front().better == Better::kHigher) {
    const Metric& metric = result.metrics.front();
    line += fmt::format(", {} {:.4g} {} per W", axes_text(metric),
                        statistics(figures(result, metric)).median / energy.watts(), metric.unit);
  }
  return line + "\n";
}

/// A line for each domain, and one for all domains of a source where they can be added up.
std::string energy_lines(const Result& result) {
  std::string text;
  std::map<std::string, std::vector<power::Energy>> sources;
  for (const power::Energy& energy : result.energy) {
    text += energy_line(result, energy, energy.domain + " (" + energy.source + ")");
    sources[energy.source].push_back(energy);
  }
  for (const auto& [source, parts] : sources) {
    if (parts.size() < 2 || !power::adds_up(source)) continue;
    power::Energy sum{"", source, 0, parts.front().seconds};
    for (const power::Energy& part : parts) sum.joules += part.joules;
    text += energy_line(result, sum, "all of " + source);
  }
  return text;
}

}  // namespace

std::string to_table(const Result& result) {
  // Runs of different kernels of the user's must not look alike.
  const std::string kernel =
      result.kernel.origin == "shipped" ? result.variant : result.variant + " " + result.kernel.file;
  std::string text =
      fmt::format("{} {} ({}, {}) on {}, {} rank{}\n", result.benchmark, kernel,
                  result.optimized ? "optimized" : "base", result.device.emulated() ? "emulated" : "measured",
                  result.device.name, result.placement.size(), result.placement.size() == 1 ? "" : "s");
  std::vector<std::string> settings;
  for (const auto& [name, value] : result.parameters.all()) settings.push_back(name + "=" + to_text(value));
  text += fmt::format("{}\n{:<30}{:>12}{:>12}{:>12}  {}\n", fmt::join(settings, " "), "", "best", "median",
                      "deviation", "unit");
  for (const Metric& metric : result.metrics) {
    const std::vector<double> values = figures(result, metric);
    const Statistics summary = statistics(values);
    text +=
        fmt::format("{:<30}{:>12.4g}{:>12.4g}{:>12.2g}  {}\n", axes_text(metric),
                    best_of(values, metric.better), summary.median, summary.standard_deviation, metric.unit);
  }
  for (const DerivedFigure& figure : result.derived) {
    text += fmt::format("{:<30}{:>12.4g}{:>12.4g}{:>12}  {}\n", axes_text(figure), figure.best, figure.median,
                        "", figure.unit);
  }
  for (const Result::RankVerdict& entry : result.verdicts) text += verdict_line(entry);
  if (!result.validated) text += "skipped  validation: the results were not checked\n";
  text += energy_lines(result);
  for (const std::string& note : result.notes) text += "note: " + note + "\n";
  return text;
}

std::string devices_table(const std::vector<device::FoundDevice>& devices) {
  std::string text =
      fmt::format("{:<9}{:<7}{:<9}{:<7}{:<10}{}\n", "platform", "device", "class", "units", "memory", "name");
  for (const device::FoundDevice& found : devices) {
    const device::DeviceInfo& info = found.info;
    text += fmt::format("{:<9}{:<7}{:<9}{:<7}{:<10}{}: {}\n", info.platform_index, info.device_index,
                        device::class_name(info.device_class), info.compute_units,
                        fmt::format("{:.1f} GB", static_cast<double>(info.global_memory_bytes) / 1e9),
                        info.platform, info.name);
  }
  return text;
}

}  // namespace fabricmark::harness
