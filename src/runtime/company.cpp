// How ranks share a host's CPUs, and whether they worked at the same time.
#include "runtime/company.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/host.hpp"

namespace fabricmark::runtime {

namespace {

constexpr double kLeastOverlap = 0.9;
constexpr std::size_t kMostNamed = 4;

std::vector<Mask> gather_masks(Communicator& ranks) {
  std::vector<double> own;
  for (const int cpu : usable_cpus()) own.push_back(cpu);
  const std::vector<std::string> hosts = ranks.all_gather_texts(describe_host().name);
  std::vector<Mask> masks;
  for (const std::vector<double>& of_rank : ranks.all_gather_numbers(own)) {
    Mask& mask = masks.emplace_back(hosts[masks.size()]);
    for (const double cpu : of_rank) mask.cpus.push_back(static_cast<int>(cpu));
  }
  return masks;
}

/// The timed regions of metrics of the wall clock.
std::set<std::string> measured_regions(const Result& result) {
  std::set<std::string> regions;
  for (const Metric& metric : result.metrics) {
    if (kind_of(result, metric.kind) != TimeKind::kModelled) regions.insert(metric.region);
  }
  return regions;
}

/// Where windows overlap too little; empty where all do well enough.
std::string overlap_note(const Result& result) {
  const std::set<std::string> regions = measured_regions(result);
  std::vector<std::string> apart;
  double least = 1;
  for (std::size_t region = 0; region < result.starts.size(); ++region) {
    const double share = overlap(result.seconds[region], result.starts[region]);
    if (!regions.contains(result.region_names[region]) || share >= kLeastOverlap) continue;
    apart.push_back(result.region_names[region]);
    least = std::min(least, share);
  }
  if (apart.empty()) return {};
  const std::size_t more = apart.size() - std::min(apart.size(), kMostNamed);
  apart.resize(apart.size() - more);
  return fmt::format(
      "the ranks did not run at the same time in {}{}: all of them in {:.0f} % of the shortest one's time "
      "(median); times are from the first start to the last end",
      fmt::join(apart, ", "), more > 0 ? fmt::format(" and {} more", more) : "", 100 * least);
}

}  // namespace

std::vector<std::string> crowded(const std::vector<Mask>& masks) {
  std::map<std::string, std::vector<std::set<int>>> hosts;
  for (const Mask& mask : masks) hosts[mask.host].emplace_back(mask.cpus.begin(), mask.cpus.end());
  std::vector<std::string> notes;
  for (const auto& [host, own] : hosts) {
    std::set<std::set<int>> places(own.begin(), own.end());
    std::set<int> all;
    for (const std::set<int>& one : own) all.insert(one.begin(), one.end());
    places.insert(all);
    // The place with the most ranks to a CPU: those that may run nowhere else.
    std::size_t ranks = 0;
    std::size_t cpus = 1;
    for (const std::set<int>& place : places) {
      const auto inside = static_cast<std::size_t>(
          std::ranges::count_if(own, [&](const auto& one) { return std::ranges::includes(place, one); }));
      if (inside <= place.size() || inside * cpus <= ranks * place.size()) continue;
      ranks = inside;
      cpus = place.size();
    }
    if (ranks == 0) continue;
    notes.push_back(fmt::format("{} ranks share {} CPU{} of {}, by their masks: they take turns", ranks, cpus,
                                cpus == 1 ? "" : "s", host));
  }
  return notes;
}

std::vector<std::string> company_notes(Communicator& ranks, const Result& result) {
  if (ranks.size() == 1) return {};
  const std::vector<Mask> masks = gather_masks(ranks);
  if (measured_regions(result).empty()) return {};
  std::vector<std::string> notes = crowded(masks);
  if (const std::string note = overlap_note(result); !note.empty()) notes.push_back(note);
  return notes;
}

}  // namespace fabricmark::runtime
