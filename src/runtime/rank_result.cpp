// How a rank's run becomes a part of the result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/statistics.hpp"
#include "base/terminal.hpp"
#include "runtime/company.hpp"
#include "runtime/exchange.hpp"
#include "runtime/publish.hpp"
#include "runtime/rank_run.hpp"

namespace fabricmark::runtime {

void RankRun::collect(const Samples& samples) {
  fail_in_step("result");
  result_.parameters = parameters_;
  result_.parameters.set("memory", memory_name());
  if (!context_->host_memory().empty()) result_.parameters.set("host_memory", context_->host_memory());
  result_.metrics = benchmark_->metrics();
  result_.notes = benchmark_->notes();
  remarks_.insert(remarks_.end(), context_->remarks().begin(), context_->remarks().end());
  if (const std::string banks = context_->bank_use().note(); !banks.empty()) remarks_.push_back(banks);
  result_.notes.insert(result_.notes.end(), remarks_.begin(), remarks_.end());
  if (const std::size_t without = device_->guards().without(); without > 0) {
    result_.notes.push_back(fmt::format("{} buffers have no guard zones around them", without));
  }
  if (result_.repetitions < options_.repetitions) {
    result_.notes.push_back(fmt::format("{} of {} repetitions: --max-time {:g} had passed",
                                        result_.repetitions, options_.repetitions,
                                        options_.max_time_seconds.value_or(0)));
  }
  gather_samples(ranks_, samples, shared_clock_, result_);
  for (Metric& metric : result_.metrics) metric.work = ranks_.all_reduce_sum(metric.work);
  std::map<std::string, RegionSeconds> regions;
  for (std::size_t i = 0; i < result_.region_names.size(); ++i) {
    const Statistics seconds = statistics(spans(result_.seconds[i], result_.starts[i]));
    RegionSeconds& region = regions[result_.region_names[i]];
    region = {.best = seconds.minimum, .median = seconds.median};
    if (result_.modelled_seconds.empty()) continue;
    const Statistics modelled = statistics(slowest(result_.modelled_seconds[i]));
    region.modelled_best = modelled.minimum;
    region.modelled_median = modelled.median;
  }
  const auto derive = [this](const auto& of_regions) { return benchmark_->derive(of_regions); };
  result_.derived = derive(regions);
  if (costs_) collect_modelled(regions, derive);
  const device::DeviceInfo& info = device_->info();
  const Result::Placement own = placement_on(info, info.emulated() || is_emulated());
  result_.placement = gather_placement(ranks_, own);
  result_.noise = gather_noise(ranks_, noise_, result_.placement);
  check_kinds(result_);
  check_windows(result_);
  for (const auto& notes : {company_notes(ranks_, result_), shared_clock_.notes()}) {
    result_.notes.insert(result_.notes.end(), notes.begin(), notes.end());
  }
  const power::Reading all_power = gather_power(ranks_, own.host, power_);
  result_.energy = all_power.energies;
  result_.notes.insert(result_.notes.end(), all_power.notes.begin(), all_power.notes.end());
  if (timeline_.enabled()) result_.timeline = gather_timeline(ranks_, timeline_.entries());
  if (modelled_timeline_) result_.activities = modelled_timeline_->gathered(ranks_);
}

void RankRun::collect_modelled(const std::map<std::string, RegionSeconds>& regions, const Derive& derive) {
  add_modelled(result_, regions, derive, options_.timing_only);
  const std::string unknown = fmt::format("{}", fmt::join(clock_->unknown(), "; "));
  if (options_.timing_only && result_.metrics.empty()) {
    throw bad_use(
        unknown.empty() ? "nothing that is timed is simulated" : "nothing says what is timed: " + unknown,
        "choose another --variant or benchmark");
  }
  if (!unknown.empty()) result_.notes.push_back("no modelled time where " + unknown);
}

void RankRun::collect_verdicts() {
  std::vector<Verdict> verdicts;
  for (Result::RankVerdict& entry : verdicts_) verdicts.push_back(std::move(entry.verdict));
  result_.verdicts = worst_verdicts(gather_verdicts(ranks_, verdicts));
  // Those of the benchmark itself come first.
  std::ranges::stable_partition(
      result_.verdicts, [](const Result::RankVerdict& entry) { return entry.verdict.name != kGuardZones; });
  const bool all_passed = std::ranges::all_of(
      result_.verdicts, [](const Result::RankVerdict& entry) { return entry.verdict.passed(); });
  // A benchmark that checks nothing has proven nothing.
  const bool is_valid = !result_.validated || (all_passed && !result_.verdicts.empty());
  result_.exit_code = static_cast<int>(is_valid ? ExitCode::kValid : ExitCode::kInvalidResult);
}

void RankRun::publish() {
  progress_.clear();
  collective_step(ranks_, [&] {
    if (ranks_.is_root()) {
      hold_result(result_, options_.json,
                  options_.quiet ? to_line(result_) : to_table(result_, terminal_width()));
    }
  });
}

}  // namespace fabricmark::runtime
