// fm_mbw_mr: fm_bw of several pairs at the same time; their bandwidth together, and messages a second.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::bw {
Program make();
}

namespace fabricmark::microbench::omb::program::mbw_mr {

Program make() {
  Program program = bw::make();
  program.name = "mbw_mr";
  program.title = "Multiple Bandwidth / Message Rate Test";
  program.summary =
      "fm_bw of several pairs at the same time; their bandwidth together, and messages a second";
  program.family = Family::kRate;
  program.has_all_pairs = true;
  program.is_in_short_set = false;
  return program;
}

}  // namespace fabricmark::microbench::omb::program::mbw_mr
