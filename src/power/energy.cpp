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

std::vector<Sample> kept_samples(const std::vector<Sample>& samples, const Domain& domain, double start) {
  std::vector<Sample> kept;
  double joules = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    double value = samples[i].value;
    if (domain.quantity == Quantity::kEnergy) {
      const double growth = i == 0 ? 0 : value - samples[i - 1].value;
      joules += growth < 0 ? growth + domain.wrap_joules : growth;
      value = joules;
    }
    kept.push_back({samples[i].seconds - start, value});
  }
  return kept;
}

std::optional<double> peak_power(const std::vector<Sample>& samples, const Domain& domain,
                                 const std::vector<Span>& spans, double window) {
  const auto counts = [&](double from, double to) {
    return std::ranges::any_of(spans, [&](const Span& span) { return from <= span.end && to >= span.start; });
  };
  std::optional<double> peak;
  const auto take = [&](double watts) { peak = std::max(watts, peak.value_or(watts)); };
  if (domain.quantity == Quantity::kPower) {
    for (const Sample& one : samples) {
      if (counts(one.seconds, one.seconds)) take(one.value);
    }
    return peak;
  }
  const std::vector<Sample> counter = kept_samples(samples, domain, 0);
  std::size_t last = 0;
  for (std::size_t i = 0; i < counter.size(); ++i) {
    const Sample& first = counter[i];
    last = std::max(last, i + 1);
    while (last < counter.size() && counter[last].seconds - first.seconds < window) ++last;
    if (last == counter.size()) break;
    if (!counts(first.seconds, counter[last].seconds)) continue;
    take((counter[last].value - first.value) / (counter[last].seconds - first.seconds));
  }
  return peak;
}

}  // namespace fabricmark::power
