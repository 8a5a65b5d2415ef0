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

std::vector<runtime::DerivedMetric> Stalls::metrics(const std::map<std::string, runtime::LapSeconds>& laps,
                                                    const std::string& lap, double steps) const {
  constexpr double kMicro = 1e6;
  constexpr double kPercent = 100;
  std::vector<runtime::DerivedMetric> found;
  if (const auto part = laps.find(lap); part != laps.end()) {
    found.push_back({.name = "step_time",
                     .axes = {{"operation", lap}},
                     .unit = "us",
                     .better = runtime::Better::kLower,
                     .best = part->second.best / steps * kMicro,
                     .median = part->second.median / steps * kMicro,
                     .formula = "time of all steps by their number"});
  }
  if (seconds_ == 0) return found;
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
