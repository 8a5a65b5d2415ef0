// fm_multi_lat: fm_latency of several pairs at the same time, each rank of the first half with one of the
// second.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::latency {
Program make();
}

namespace fabricmark::microbench::omb::program::multi_lat {

Program make() {
  Program program = latency::make();
  program.name = "multi_lat";
  program.title = "Multi Latency Test";
  program.summary =
      "fm_latency of several pairs at the same time, each rank of the first half with one of the second";
  program.has_all_pairs = true;
  program.is_in_short_set = false;
  return program;
}

}  // namespace fabricmark::microbench::omb::program::multi_lat
