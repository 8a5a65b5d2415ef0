#pragma once

#include "collectives/algorithm.hpp"
#include "collectives/costs.hpp"

namespace fabricmark::collectives {

/// From when all ranks begin, in seconds.
struct CallTimes {
  double last = 0;  ///< until the last rank has ended
  double mean = 0;  ///< of all ranks, until each has ended
};

/// How long a call takes: each rank's moves are recorded and replayed with these costs, their messages over
/// the cables that they share.
///
/// As LogGOPSim does (Hoefler, Schneider and Lumsdaine, "LogGOPSim: simulating large-scale applications in
/// the LogGOPS model", 2010): a rank pays for each message that it starts (o), a message takes its latency
/// (L) and its bytes (G) on each port that it passes, and those longer than `ReceiveBuffers::longest` wait
/// for their receiver (S); beyond 64 MiB of a rank each byte takes what the last ones took. Added are the
/// mover of a rank's memory, and combining.
[[nodiscard]] CallTimes replayed_times(const Algorithm& algorithm, const Problem& problem,
                                       const Costs& costs);

/// Until the last rank has ended.
[[nodiscard]] double replayed_seconds(const Algorithm& algorithm, const Problem& problem, const Costs& costs);

}  // namespace fabricmark::collectives
