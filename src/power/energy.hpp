#pragma once

#include <optional>
#include <string>
#include <vector>

#include "power/source.hpp"

namespace fabricmark::power {

/// The energy of one domain over the counted repetitions.
struct Energy {
  std::string domain;
  std::string source;
  double joules = 0;
  double seconds = 0;
  [[nodiscard]] double watts() const { return joules / seconds; }
};

/// What a domain showed at one time: joules of a counter, or watts.
struct Sample {
  double seconds = 0;
  double value = 0;
};

/// Energy [J] from time `from` to time `to` [s]. Power is taken as linear between two samples (trapezoids,
/// exact for a ramp); a counter grows linearly between two samples, and once past `domain.wrap_joules` from 0
/// on. Nothing when the samples do not reach from end to end, or when a counter that does not wrap fell.
std::optional<double> energy_between(const std::vector<Sample>& samples, const Domain& domain, double from,
                                     double to);

}  // namespace fabricmark::power
