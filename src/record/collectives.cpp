// Calls of all ranks of a communicator, as the program calls them.
#include <mpi.h>

#include <numeric>

#include "record/recorder.hpp"

using namespace fabricmark::record;  // names of MPI are global

namespace {

constexpr int kNoRoot = -1;

/// `bytes` of one rank's elements; `varies`: each rank may have its own.
int noted(Timed call, int code, Call kind, MPI_Comm over, std::int64_t bytes, int root, bool varies,
          const char* name) {
  if (!call.is_on()) return code;
  Recorder& recorder = Recorder::of_process();
  const Communicator* found = recorder.find(over);
  if (found == nullptr) {
    recorder.count_unmodelled(name);
    return code;
  }
  call.note({.call = kind,
             .communicator = found->id,
             .to = root == kNoRoot ? Signature::kNone : in_world(*found, root),
             .varies = varies ? 1U : 0U,
             .bytes = bytes});
  return code;
}

int size_of(MPI_Comm over) {
  int size = 1;
  PMPI_Comm_size(over, &size);
  return size;
}

int rank_in(MPI_Comm over) {
  int rank = 0;
  PMPI_Comm_rank(over, &rank);
  return rank;
}

/// Mean of a rank's parts.
std::int64_t mean_bytes(const int* counts, MPI_Datatype type, MPI_Comm over) {
  const int size = size_of(over);
  const auto all = std::accumulate(counts, counts + size, std::int64_t{0});
  return all * bytes_of(1, type) / size;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Barrier(MPI_Comm over) {
  Timed call;
  return noted(call, call.done(PMPI_Barrier(over)), Call::kBarrier, over, 0, kNoRoot, false, "MPI_Barrier");
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Bcast(data, count, type, root, over));
  return noted(call, code, Call::kBcast, over, bytes_of(count, type), root, false, "MPI_Bcast");
}

int MPI_Reduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Reduce(own, result, count, type, op, root, over));
  return noted(call, code, Call::kReduce, over, bytes_of(count, type), root, false, "MPI_Reduce");
}

int MPI_Allreduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Allreduce(own, result, count, type, op, over));
  return noted(call, code, Call::kAllreduce, over, bytes_of(count, type), kNoRoot, false, "MPI_Allreduce");
}

int MPI_Scan(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Scan(own, result, count, type, op, over));
  return noted(call, code, Call::kScan, over, bytes_of(count, type), kNoRoot, false, "MPI_Scan");
}

int MPI_Exscan(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Exscan(own, result, count, type, op, over));
  return noted(call, code, Call::kScan, over, bytes_of(count, type), kNoRoot, false, "MPI_Exscan");
}

int MPI_Gather(const void* own, int count, MPI_Datatype type, void* result, int parts, MPI_Datatype part_type,
               int root, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Gather(own, count, type, result, parts, part_type, root, over));
  const std::int64_t bytes = own == MPI_IN_PLACE ? bytes_of(parts, part_type) : bytes_of(count, type);
  return noted(call, code, Call::kGather, over, bytes, root, false, "MPI_Gather");
}

int MPI_Gatherv(const void* own, int count, MPI_Datatype type, void* result, const int* parts,
                const int* places, MPI_Datatype part_type, int root, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Gatherv(own, count, type, result, parts, places, part_type, root, over));
  const std::int64_t bytes = own == MPI_IN_PLACE ? bytes_of(parts[root], part_type) : bytes_of(count, type);
  return noted(call, code, Call::kGather, over, bytes, root, true, "MPI_Gatherv");
}

int MPI_Scatter(const void* own, int parts, MPI_Datatype part_type, void* result, int count,
                MPI_Datatype type, int root, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Scatter(own, parts, part_type, result, count, type, root, over));
  const std::int64_t bytes = result == MPI_IN_PLACE ? bytes_of(parts, part_type) : bytes_of(count, type);
  return noted(call, code, Call::kScatter, over, bytes, root, false, "MPI_Scatter");
}

int MPI_Scatterv(const void* own, const int* parts, const int* places, MPI_Datatype part_type, void* result,
                 int count, MPI_Datatype type, int root, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Scatterv(own, parts, places, part_type, result, count, type, root, over));
  const std::int64_t bytes =
      result == MPI_IN_PLACE ? bytes_of(parts[root], part_type) : bytes_of(count, type);
  return noted(call, code, Call::kScatter, over, bytes, root, true, "MPI_Scatterv");
}

int MPI_Allgather(const void* own, int count, MPI_Datatype type, void* result, int parts,
                  MPI_Datatype part_type, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Allgather(own, count, type, result, parts, part_type, over));
  const std::int64_t bytes = own == MPI_IN_PLACE ? bytes_of(parts, part_type) : bytes_of(count, type);
  return noted(call, code, Call::kAllgather, over, bytes, kNoRoot, false, "MPI_Allgather");
}

int MPI_Allgatherv(const void* own, int count, MPI_Datatype type, void* result, const int* parts,
                   const int* places, MPI_Datatype part_type, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Allgatherv(own, count, type, result, parts, places, part_type, over));
  const std::int64_t bytes =
      own == MPI_IN_PLACE ? bytes_of(parts[rank_in(over)], part_type) : bytes_of(count, type);
  return noted(call, code, Call::kAllgather, over, bytes, kNoRoot, true, "MPI_Allgatherv");
}

int MPI_Alltoall(const void* own, int count, MPI_Datatype type, void* result, int parts,
                 MPI_Datatype part_type, MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Alltoall(own, count, type, result, parts, part_type, over));
  const std::int64_t bytes = own == MPI_IN_PLACE ? bytes_of(parts, part_type) : bytes_of(count, type);
  return noted(call, code, Call::kAlltoall, over, bytes, kNoRoot, false, "MPI_Alltoall");
}

int MPI_Alltoallv(const void* own, const int* counts, const int* places, MPI_Datatype type, void* result,
                  const int* parts, const int* part_places, MPI_Datatype part_type, MPI_Comm over) {
  Timed call;
  const int code =
      call.done(PMPI_Alltoallv(own, counts, places, type, result, parts, part_places, part_type, over));
  if (!call.is_on()) return code;
  const std::int64_t bytes =
      own == MPI_IN_PLACE ? mean_bytes(parts, part_type, over) : mean_bytes(counts, type, over);
  return noted(call, code, Call::kAlltoall, over, bytes, kNoRoot, true, "MPI_Alltoallv");
}

int MPI_Reduce_scatter(const void* own, void* result, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Reduce_scatter(own, result, counts, type, op, over));
  if (!call.is_on()) return code;
  return noted(call, code, Call::kReduceScatter, over, mean_bytes(counts, type, over), kNoRoot, false,
               "MPI_Reduce_scatter");
}

int MPI_Reduce_scatter_block(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm over) {
  Timed call;
  const int code = call.done(PMPI_Reduce_scatter_block(own, result, count, type, op, over));
  return noted(call, code, Call::kReduceScatter, over, bytes_of(count, type), kNoRoot, false,
               "MPI_Reduce_scatter_block");
}

}  // extern "C"
#pragma GCC visibility pop
