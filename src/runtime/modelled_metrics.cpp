#include "runtime/modelled_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace fabricmark::runtime {

namespace {

/// The parts whose modelled time is known in every repetition.
std::set<std::string> modelled_regions(const Result& result) {
  std::set<std::string> found;
  for (std::size_t region = 0; region < result.modelled_seconds.size(); ++region) {
    const Result::PerRank& ranks = result.modelled_seconds[region];
    bool is_modelled = !ranks.empty() && !ranks.front().empty();
    for (std::size_t i = 0; is_modelled && i < ranks.front().size(); ++i) {
      is_modelled = std::ranges::any_of(ranks, [i](const auto& of_rank) { return of_rank.at(i) > 0; });
    }
    if (is_modelled) found.insert(result.region_names[region]);
  }
  return found;
}

void keep(std::vector<DerivedMetric>& metrics, DerivedMetric twin, const DerivedMetric& metric) {
  if (twin.name != metric.name || !std::isfinite(twin.best)) return;
  if (twin.best == metric.best && twin.median == metric.median) return;  // none of times
  twin.kind = TimeKind::kModelled;
  metrics.push_back(std::move(twin));
}

}  // namespace

void add_modelled(Result& result, const std::map<std::string, RegionSeconds>& regions, const Derive& derive,
                  bool only_modelled) {
  const std::set<std::string> known = modelled_regions(result);
  std::vector<Metric> metrics;
  for (const Metric& metric : result.metrics) {
    const bool is_modelled = metric.kind == TimeKind::kModelled;
    if (!only_modelled || is_modelled) metrics.push_back(metric);
    if (is_modelled || !known.contains(metric.region)) continue;
    metrics.push_back(metric);
    metrics.back().kind = TimeKind::kModelled;
  }
  result.metrics = std::move(metrics);

  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, RegionSeconds> modelled = regions;
  for (auto& [name, seconds] : modelled) {
    const bool is_known = known.contains(name);
    seconds.best = is_known ? seconds.modelled_best : kUnknown;
    seconds.median = is_known ? seconds.modelled_median : kUnknown;
  }
  const std::vector<DerivedMetric> twins = derive(modelled);
  std::vector<DerivedMetric> derived;
  for (std::size_t i = 0; i < result.derived.size(); ++i) {
    const DerivedMetric& metric = result.derived[i];
    const bool is_modelled = metric.kind == TimeKind::kModelled;
    if (!only_modelled || is_modelled) derived.push_back(metric);
    if (!is_modelled && i < twins.size()) keep(derived, twins[i], metric);
  }
  result.derived = std::move(derived);
}

}  // namespace fabricmark::runtime
