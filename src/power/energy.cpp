#include "power/energy.hpp"

#include <algorithm>

namespace fabricmark::power {

std::optional<double> energy_between(const std::vector<Sample>& samples, const Domain& domain, double from,
                                     double to) {
  if (samples.empty() || samples.front().seconds > from || samples.back().seconds < to) return std::nullopt;
  double joules = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const Sample& before = samples[i - 1];
    const Sample& after = samples[i];
    double growth = after.value - before.value;
    if (domain.quantity == Quantity::kEnergy && growth < 0) {
      growth += domain.wrap_joules;
      if (growth < 0) return std::nullopt;
    }
    const double start = std::max(before.seconds, from);
    const double end = std::min(after.seconds, to);
    if (start >= end) continue;
    const double slope = growth / (after.seconds - before.seconds);
    if (domain.quantity == Quantity::kEnergy) {
      joules += slope * (end - start);
    } else {
      const double middle = (start + end) / 2;
      joules += (before.value + slope * (middle - before.seconds)) * (end - start);
    }
  }
  return joules;
}

}  // namespace fabricmark::power
