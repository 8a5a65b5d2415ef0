#pragma once

#include <vector>

namespace fabricmark::runtime {

/// Of every rank in each repetition: [rank][repetition].
using PerRank = std::vector<std::vector<double>>;

/// Seconds of each repetition of a timed region, for all that is said of several ranks: from the first rank's
/// start to the last one's end. Ranks that take turns take the time of all turns, and one that begins late
/// ends late. `starts`: when each rank began, in seconds on a clock that all share; empty where nobody knows,
/// as of modelled times: then the slowest rank counts.
std::vector<double> spans(const PerRank& seconds, const PerRank& starts);

/// The share of the shortest rank's time in which all ranks worked, from 0 (some took turns) to 1 (all began
/// before any ended, and ended after it): the median of the repetitions. 1 where nobody knows.
double overlap(const PerRank& seconds, const PerRank& starts);

/// The same starts, counted from the first rank's in each repetition.
PerRank after_the_first(PerRank starts);

}  // namespace fabricmark::runtime
