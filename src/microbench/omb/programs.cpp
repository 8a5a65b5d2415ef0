// The programs, a row each, in the order of their names. Nothing else lists them: CMake reads the names here,
// and makes fm_<name> a link to fm_omb for each.
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

constexpr Program kPrograms[] = {
    {.name = "allgather",
     .title = "Allgather Latency Test",
     .summary = "what each rank has comes to all",
     .operation = Operation::kAllGather},
    {.name = "allgatherv",
     .title = "Allgatherv Latency Test",
     .summary = "what each rank has comes to all; ranks say how much each of them has",
     .operation = Operation::kAllGather,
     .has_counts = true},
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
    {.name = "alltoallv",
     .title = "All-to-Allv Personalized Exchange Latency Test",
     .summary = "each rank has a part for each; ranks say how much each of them has",
     .operation = Operation::kAllToAll,
     .has_counts = true},
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
    {.name = "gatherv",
     .title = "Gatherv Latency Test",
     .summary = "what each rank has comes to the root; ranks say how much each of them has",
     .operation = Operation::kGather,
     .has_counts = true},
    {.name = "iallgather",
     .title = "Non-blocking Allgather Latency Test",
     .summary = "what each rank has comes to all, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kAllGather},
    {.name = "iallreduce",
     .title = "Non-blocking Allreduce Latency Test",
     .summary = "the sum of what all ranks have comes to all, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kAllReduce},
    {.name = "ialltoall",
     .title = "Non-blocking All-to-All Personalized Exchange Latency Test",
     .summary = "each rank has a part for each, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kAllToAll},
    {.name = "ibarrier",
     .title = "Non-blocking Barrier Latency Test",
     .summary = "no rank goes on before all have come, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kBarrier},
    {.name = "ibcast",
     .title = "Non-blocking Broadcast Latency Test",
     .summary = "what the root has comes to all, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kBroadcast},
    {.name = "igather",
     .title = "Non-blocking Gather Latency Test",
     .summary = "what each rank has comes to the root, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kGather},
    {.name = "ireduce",
     .title = "Non-blocking Reduce Latency Test",
     .summary = "the sum of what all ranks have comes to the root, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kReduce},
    {.name = "ireduce_scatter",
     .title = "Non-blocking Reduce_scatter Latency Test",
     .summary = "each rank gets its part of the sum of what all ranks have, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kReduceScatter},
    {.name = "iscatter",
     .title = "Non-blocking Scatter Latency Test",
     .summary = "each rank gets its part of what the root has, while the rank computes",
     .family = Family::kOverlap,
     .operation = Operation::kScatter},
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
    {.name = "scatterv",
     .title = "Scatterv Latency Test",
     .summary = "each rank gets its part of what the root has; ranks say how much each of them has",
     .operation = Operation::kScatter,
     .has_counts = true},
};

}  // namespace

std::span<const Program> programs() { return kPrograms; }

}  // namespace fabricmark::microbench::omb
