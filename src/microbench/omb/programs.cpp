// The programs, a row each, in the order of their names. Nothing else lists them: CMake reads the names here,
// and makes fm_<name> a link to fm_omb for each. A name alone stands for what MPI's call of that name makes
// of the row without its v or i: ranks say how much each of them has, or compute while the call goes on.
#include <algorithm>
#include <iterator>
#include <vector>

#include "microbench/omb/pair.hpp"
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb {

namespace {

using collectives::Operation;

void there_and_back(Pair& pair) {
  if (pair.is_first()) pair.send();
  pair.receive();
  if (!pair.is_first()) pair.send();
}

void one_window(Pair& pair) {
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

void windows_both_ways(Pair& pair) {
  pair.start_receives();
  pair.start_sends();
  pair.wait_all();
}

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): of memory that a program has not even at its start
const Program kRows[] = {
    {.name = "allgather",
     .title = "Allgather Latency Test",
     .summary = "what each rank has comes to all",
     .operation = Operation::kAllGather},
    {.name = "allgatherv"},
    {.name = "allreduce",
     .title = "Allreduce Latency Test",
     .summary = "the sum of what all ranks have comes to all",
     .operation = Operation::kAllReduce,
     .is_in_short_set = true},
    {.name = "alltoall",
     .title = "All-to-All Personalized Exchange Latency Test",
     .summary = "each rank has a part for each",
     .operation = Operation::kAllToAll,
     .is_in_short_set = true},
    {.name = "alltoallv"},
    {.name = "barrier",
     .title = "Barrier Latency Test",
     .summary = "no rank goes on before all have come",
     .operation = Operation::kBarrier,
     .is_in_short_set = true},
    {.name = "bcast",
     .title = "Broadcast Latency Test",
     .summary = "what the root has comes to all",
     .operation = Operation::kBroadcast},
    {.name = "bibw",
     .title = "Bi-Directional Bandwidth Test",
     .summary = "windows of messages leave in both directions at once",
     .family = Family::kBandwidth,
     .round = windows_both_ways,
     .windows = 2,
     .is_in_short_set = true},
    {.name = "bw",
     .title = "Bandwidth Test",
     .summary = "a window of messages leaves at once; the other rank answers when all have arrived",
     .family = Family::kBandwidth,
     .round = one_window,
     .windows = 1,
     .is_one_way = true,
     .is_in_short_set = true},
    {.name = "gather",
     .title = "Gather Latency Test",
     .summary = "what each rank has comes to the root",
     .operation = Operation::kGather},
    {.name = "gatherv"},
    {.name = "iallgather"},
    {.name = "iallreduce"},
    {.name = "ialltoall"},
    {.name = "ibarrier"},
    {.name = "ibcast"},
    {.name = "igather"},
    {.name = "ireduce"},
    {.name = "ireduce_scatter"},
    {.name = "iscatter"},
    {.name = "latency",
     .title = "Latency Test",
     .summary =
         "a message goes to the other rank and one of the same size comes back; half of the time counts",
     .family = Family::kLatency,
     .round = there_and_back,
     .parts = 2,
     .is_in_short_set = true},
    {.name = "mbw_mr",
     .title = "Multiple Bandwidth / Message Rate Test",
     .summary = "fm_bw of several pairs at the same time; their bandwidth together, and messages a second",
     .family = Family::kRate,
     .has_all_pairs = true,
     .round = one_window,
     .windows = 1,
     .is_one_way = true},
    {.name = "multi_lat",
     .title = "Multi Latency Test",
     .summary =
         "fm_latency of several pairs at the same time, each rank of the first half with one of the second",
     .family = Family::kLatency,
     .has_all_pairs = true,
     .round = there_and_back,
     .parts = 2},
    {.name = "reduce",
     .title = "Reduce Latency Test",
     .summary = "the sum of what all ranks have comes to the root",
     .operation = Operation::kReduce},
    {.name = "reduce_scatter",
     .title = "Reduce_scatter Latency Test",
     .summary = "each rank gets its part of the sum of what all ranks have",
     .operation = Operation::kReduceScatter},
    {.name = "scatter",
     .title = "Scatter Latency Test",
     .summary = "each rank gets its part of what the root has",
     .operation = Operation::kScatter},
    {.name = "scatterv"},
};

}  // namespace

/// The rows, with those that have a name alone after their blocking call, of which all ranks have as much.
static std::vector<Program> completed() {
  std::vector<Program> all(std::begin(kRows), std::end(kRows));
  for (Program& one : all) {
    if (!one.title.empty()) continue;
    const std::string name = one.name;
    const bool has_counts = name.ends_with('v');
    one = *std::ranges::find(kRows, has_counts ? name.substr(0, name.size() - 1) : name.substr(1),
                             &Program::name);
    one.name = name;
    one.is_in_short_set = false;
    one.has_counts = has_counts;
    one.family = has_counts ? Family::kCollective : Family::kOverlap;
    one.title = has_counts ? one.title.insert(one.title.find(' '), "v") : "Non-blocking " + one.title;
    one.summary += has_counts ? "; ranks say how much each of them has" : ", while the rank computes";
  }
  return all;
}

std::span<const Program> programs() {
  static const std::vector<Program> all = completed();
  return all;
}

}  // namespace fabricmark::microbench::omb
