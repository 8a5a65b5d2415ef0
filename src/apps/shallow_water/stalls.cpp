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

runtime::Metric step_time(const std::string& lap, double steps) {
  constexpr double kMicro = 1e6;
  return {.name = "step_time",
          .axes = {{"operation", lap}},
          .lap = lap,
          .unit = "us",
          .scale = kMicro / steps,
          .better = runtime::Better::kLower};
}

std::vector<runtime::DerivedMetric> Stalls::metrics() const {
  constexpr double kPercent = 100;
  if (seconds_ == 0) return {};
  std::vector<runtime::DerivedMetric> found;
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
