// fm_bw: a window of messages leaves at once; the other rank answers when all have arrived.
#include "microbench/omb/pair.hpp"
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::bw {

void round(Pair& pair) {
  if (pair.is_first()) {
    pair.start_sends();
    pair.wait_all();
    pair.await_answer();
  } else {
    pair.start_receives();
    pair.wait_all();
    pair.answer();
  }
}

Program make() {
  return {.name = "bw",
          .title = "Bandwidth Test",
          .summary = "a window of messages leaves at once; the other rank answers when all have arrived",
          .family = Family::kBandwidth,
          .round = round,
          .windows = 1,
          .is_one_way = true,
          .is_in_short_set = true};
}

}  // namespace fabricmark::microbench::omb::program::bw
