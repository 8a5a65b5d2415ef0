#include "apps/shallow_water/stalls.hpp"

namespace fabricmark::shallow_water {

void Stalls::begin(const DeviceKernels& kernels) {
  before_ = kernels.stalls();
  seconds_ = 0;
  halos_ = 0;
  pipelines_ = 0;
}

void Stalls::add(runtime::Communicator& ranks, const DeviceKernels& kernels, double modelled_seconds) {
  seconds_ += modelled_seconds;
  const DeviceKernels::Stalls now = kernels.stalls();
  const double seconds = ranks.all_reduce_max_number(seconds_);
  if (seconds == 0) return;
  halos_ = ranks.all_reduce_max_number(now.halos - before_.halos) / seconds;
  pipelines_ = ranks.all_reduce_max_number(now.pipelines - before_.pipelines) / seconds;
}

std::vector<runtime::DerivedMetric> Stalls::metrics(
    const std::map<std::string, runtime::RegionSeconds>& regions, const std::string& region,
    double steps) const {
  constexpr double kPercent = 100;
  if (seconds_ == 0) return {};
  std::vector<runtime::DerivedMetric> found;
  if (const auto part = regions.find(region); part != regions.end() && clock_hz_ > 0) {
    found.push_back({.name = "step_cycles",
                     .axes = {{"operation", region}},
                     .unit = "cycles",
                     .better = runtime::Better::kLower,
                     .best = part->second.modelled_best * clock_hz_ / steps,
                     .median = part->second.modelled_median * clock_hz_ / steps,
                     .formula = "modelled time of all steps by their number, in cycles of the kernels",
                     .kind = runtime::TimeKind::kModelled});
  }
  const auto add = [&](const std::string& cause, double share) {
    found.push_back({.name = "stall",
                     .axes = {{"cause", cause}},
                     .unit = "%",
                     .better = runtime::Better::kLower,
                     .best = share * kPercent,
                     .median = share * kPercent,
                     .formula = "share of the time in which the element kernel waits, of the device where "
                                "that is most",
                     .kind = runtime::TimeKind::kModelled});
  };
  add("halos", halos_);
  add("pipelines", pipelines_);
  return found;
}

}  // namespace fabricmark::shallow_water
