// The begin and the end of MPI, communicators, and calls that are counted and named only.
#include <mpi.h>

#include "record/recorder.hpp"

using namespace fabricmark::record;  // names of MPI are global

namespace {

/// Behind a call that has made a communicator of some ranks of `parent`, which all have called.
int created(Timed call, int code, MPI_Comm parent, const MPI_Comm* made) {
  if (!call.is_on() || code != MPI_SUCCESS) return code;
  Recorder& recorder = Recorder::of_process();
  const Communicator* over = recorder.find(parent);
  if (over != nullptr) call.note({.call = Call::kCommCreate, .communicator = over->id});
  recorder.add(*made);
  return code;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Init(int* count, char*** words) {
  const int code = PMPI_Init(count, words);
  if (code == MPI_SUCCESS) Recorder::of_process().begin();
  return code;
}

int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
  const int code = PMPI_Init_thread(count, words, required, provided);
  if (code == MPI_SUCCESS) Recorder::of_process().begin();
  return code;
}

int MPI_Finalize() {
  Recorder::of_process().end();
  return PMPI_Finalize();
}

int MPI_Comm_dup(MPI_Comm parent, MPI_Comm* made) {
  Timed call;
  return created(call, call.done(PMPI_Comm_dup(parent, made)), parent, made);
}

int MPI_Comm_split(MPI_Comm parent, int color, int key, MPI_Comm* made) {
  Timed call;
  return created(call, call.done(PMPI_Comm_split(parent, color, key, made)), parent, made);
}

int MPI_Comm_split_type(MPI_Comm parent, int kind, int key, MPI_Info info, MPI_Comm* made) {
  Timed call;
  return created(call, call.done(PMPI_Comm_split_type(parent, kind, key, info, made)), parent, made);
}

int MPI_Comm_create(MPI_Comm parent, MPI_Group group, MPI_Comm* made) {
  Timed call;
  return created(call, call.done(PMPI_Comm_create(parent, group, made)), parent, made);
}

int MPI_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* made) {
  const Timed call;
  const int code = PMPI_Comm_create_group(parent, group, tag, made);
  if (call.is_on() && code == MPI_SUCCESS) Recorder::of_process().add(*made);
  return code;
}

int MPI_Cart_create(MPI_Comm parent, int dimensions, const int* sizes, const int* periods, int reorder,
                    MPI_Comm* made) {
  Timed call;
  const int code = call.done(PMPI_Cart_create(parent, dimensions, sizes, periods, reorder, made));
  return created(call, code, parent, made);
}

int MPI_Cart_sub(MPI_Comm parent, const int* kept, MPI_Comm* made) {
  Timed call;
  return created(call, call.done(PMPI_Cart_sub(parent, kept, made)), parent, made);
}

int MPI_Comm_free(MPI_Comm* communicator) {
  const Timed call;
  if (call.is_on()) Recorder::of_process().remove(number_of(*communicator));
  return PMPI_Comm_free(communicator);
}

// Counted and named, and no part of the trace: their time is the program's own.
#define FM_COUNTED(name, parameters, arguments)                              \
  int MPI_##name parameters {                                                \
    const Timed call;                                                        \
    if (call.is_on()) Recorder::of_process().count_unmodelled("MPI_" #name); \
    return PMPI_##name arguments;                                            \
  }
#define FM_READ_WRITE(name, data)                                                                        \
  FM_COUNTED(File_##name, (MPI_File file, data, int count, MPI_Datatype type, MPI_Status* status),       \
             (file, values, count, type, status))                                                        \
  FM_COUNTED(File_##name##_all, (MPI_File file, data, int count, MPI_Datatype type, MPI_Status* status), \
             (file, values, count, type, status))                                                        \
  FM_COUNTED(File_##name##_at,                                                                           \
             (MPI_File file, MPI_Offset at, data, int count, MPI_Datatype type, MPI_Status* status),     \
             (file, at, values, count, type, status))                                                    \
  FM_COUNTED(File_##name##_at_all,                                                                       \
             (MPI_File file, MPI_Offset at, data, int count, MPI_Datatype type, MPI_Status* status),     \
             (file, at, values, count, type, status))
FM_READ_WRITE(read, void* values)
FM_READ_WRITE(write, const void* values)

FM_COUNTED(Put,
           (const void* own, int count, MPI_Datatype type, int to, MPI_Aint at, int parts,
            MPI_Datatype part_type, MPI_Win window),
           (own, count, type, to, at, parts, part_type, window))
FM_COUNTED(Get,
           (void* own, int count, MPI_Datatype type, int from, MPI_Aint at, int parts, MPI_Datatype part_type,
            MPI_Win window),
           (own, count, type, from, at, parts, part_type, window))
FM_COUNTED(Accumulate,
           (const void* own, int count, MPI_Datatype type, int to, MPI_Aint at, int parts,
            MPI_Datatype part_type, MPI_Op op, MPI_Win window),
           (own, count, type, to, at, parts, part_type, op, window))
FM_COUNTED(Win_fence, (int assertions, MPI_Win window), (assertions, window))
FM_COUNTED(Win_lock, (int kind, int rank, int assertions, MPI_Win window), (kind, rank, assertions, window))
FM_COUNTED(Win_unlock, (int rank, MPI_Win window), (rank, window))
FM_COUNTED(Win_flush, (int rank, MPI_Win window), (rank, window))
FM_COUNTED(Ibarrier, (MPI_Comm over, MPI_Request* request), (over, request))
FM_COUNTED(Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm over, MPI_Request* request),
           (data, count, type, root, over, request))
FM_COUNTED(Iallreduce,
           (const void* own, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm over,
            MPI_Request* request),
           (own, result, count, type, op, over, request))
FM_COUNTED(Iallgather,
           (const void* own, int count, MPI_Datatype type, void* result, int parts, MPI_Datatype part_type,
            MPI_Comm over, MPI_Request* request),
           (own, count, type, result, parts, part_type, over, request))
FM_COUNTED(Ialltoall,
           (const void* own, int count, MPI_Datatype type, void* result, int parts, MPI_Datatype part_type,
            MPI_Comm over, MPI_Request* request),
           (own, count, type, result, parts, part_type, over, request))
FM_COUNTED(Comm_idup, (MPI_Comm parent, MPI_Comm* made, MPI_Request* request), (parent, made, request))

}  // extern "C"
#pragma GCC visibility pop
