// fm_bibw: windows of messages leave in both directions at once.
#include "microbench/omb/pair.hpp"
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::bibw {

void round(Pair& pair) {
  pair.start_receives();
  pair.start_sends();
  pair.wait_all();
}

Program make() {
  return {.name = "bibw",
          .title = "Bi-Directional Bandwidth Test",
          .summary = "windows of messages leave in both directions at once",
          .family = Family::kBandwidth,
          .round = round,
          .windows = 2,
          .is_in_short_set = true};
}

}  // namespace fabricmark::microbench::omb::program::bibw
