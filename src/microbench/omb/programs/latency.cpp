// fm_latency: a message goes to the other rank and one of the same size comes back; half of the time counts.
#include "microbench/omb/pair.hpp"
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::latency {

void round(Pair& pair) {
  if (pair.is_first()) pair.send();
  pair.receive();
  if (!pair.is_first()) pair.send();
}

Program make() {
  return {.name = "latency",
          .title = "Latency Test",
          .summary =
              "a message goes to the other rank and one of the same size comes back; half of the time counts",
          .family = Family::kLatency,
          .round = round,
          .parts = 2,
          .is_in_short_set = true};
}

}  // namespace fabricmark::microbench::omb::program::latency
