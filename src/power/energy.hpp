#pragma once

#include <optional>
#include <string>
#include <vector>

#include "power/source.hpp"

namespace fabricmark::power {

/// What a domain showed at one time: joules of a counter, or watts.
struct Sample {
  double seconds = 0;
  double value = 0;
};

/// The energy of one domain over the counted repetitions.
struct Energy {
  std::string domain;
  std::string source;
  double joules = 0;
  double seconds = 0;
  double peak_watts = 0;
  Quantity quantity = Quantity::kPower;  ///< of the samples
  /// All, from the start of the first counted repetition on; joules since the first sample, wraps added.
  std::vector<Sample> samples{};
  [[nodiscard]] double watts() const { return joules / seconds; }
};

/// A time that counts [s].
struct Span {
  double start = 0;
  double end = 0;
};

/// Energy [J] from time `from` to time `to` [s]. Power is taken as linear between two samples (trapezoids,
/// exact for a ramp); a counter grows linearly between two samples, and once past `domain.wrap_joules` from 0
/// on. Nothing when the samples do not reach from end to end, or when a counter that does not wrap fell.
std::optional<double> energy_between(const std::vector<Sample>& samples, const Domain& domain, double from,
                                     double to);

/// The largest power [W] in the spans: of the samples of a meter of power, where one lies in a span; of a
/// counter the largest mean between two samples that are `window` seconds apart or more, with a part of a
/// span between them. Nothing where there are none such.
std::optional<double> peak_power(const std::vector<Sample>& samples, const Domain& domain,
                                 const std::vector<Span>& spans, double window);

/// The samples as Energy keeps them; `start` is their time zero.
std::vector<Sample> kept_samples(const std::vector<Sample>& samples, const Domain& domain, double start);

}  // namespace fabricmark::power
