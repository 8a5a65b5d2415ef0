// The same calls by programs in Fortran over Open MPI, whose own Fortran layer passes by the calls of C:
// handles, logicals and the addresses that stand for something are translated, and the calls of C record
// them. Of mpif.h and `use mpi` (mpi_send_) and of `use mpi_f08`, whose procedures end there (ompi_send_f).
#include <mpi.h>

#ifdef OPEN_MPI

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

using Int = MPI_Fint;
constexpr std::size_t kStatusInts = sizeof(MPI_Status) / sizeof(Int);

}  // namespace

extern "C" {
// Of libmpi; null where it has none.
[[gnu::weak]] extern Int mpi_fortran_bottom_;    // NOLINT(readability-identifier-naming)
[[gnu::weak]] extern Int mpi_fortran_in_place_;  // NOLINT(readability-identifier-naming)
}

namespace {

void* data(void* given) {
  if (given == &mpi_fortran_bottom_) return MPI_BOTTOM;
  return given == &mpi_fortran_in_place_ ? MPI_IN_PLACE : given;
}
MPI_Comm comm(const Int* given) { return MPI_Comm_f2c(*given); }
MPI_Datatype type(const Int* given) { return MPI_Type_f2c(*given); }
MPI_Op op(const Int* given) { return MPI_Op_f2c(*given); }

/// A status of a call of C, which becomes the program's behind it.
class Status {
 public:
  explicit Status(Int* given) : given_(given) {}
  [[nodiscard]] MPI_Status* of_c() { return &own_; }
  void give() const {
    if (given_ != MPI_F_STATUS_IGNORE) MPI_Status_c2f(&own_, given_);
  }

 private:
  Int* given_;
  MPI_Status own_{};
};

class Statuses {
 public:
  Statuses(Int count, Int* given) : given_(given), own_(size_of(count)) {}
  [[nodiscard]] MPI_Status* of_c() { return own_.data(); }
  void give(Int count) const {
    if (given_ == MPI_F_STATUSES_IGNORE) return;
    const std::size_t size = size_of(count);
    for (std::size_t i = 0; i < size; ++i) MPI_Status_c2f(&own_[i], given_ + i * kStatusInts);
  }

 private:
  static std::size_t size_of(Int count) { return static_cast<std::size_t>(std::max(count, Int{0})); }

  Int* given_;
  std::vector<MPI_Status> own_;
};

/// Handles of requests there and back.
class Handles {
 public:
  Handles(Int count, Int* given) : given_(given) {
    for (Int i = 0; i < count; ++i) own_.push_back(MPI_Request_f2c(given[i]));
  }
  [[nodiscard]] MPI_Request* of_c() { return own_.data(); }
  void give() const {
    for (std::size_t i = 0; i < own_.size(); ++i) given_[i] = MPI_Request_c2f(own_[i]);
  }

 private:
  Int* given_;
  std::vector<MPI_Request> own_;
};

/// Places count from 1.
void count_from_one(Int& place) {
  if (place != MPI_UNDEFINED) ++place;
}

void give(Int* into, MPI_Comm made, int code) {
  if (code == MPI_SUCCESS) *into = MPI_Comm_c2f(made);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses)
#define FM_FORTRAN(name, parameters, ...)         \
  void ompi_##name##_f parameters { __VA_ARGS__ } \
  void mpi_##name##_ parameters __attribute__((alias("ompi_" #name "_f")));

FM_FORTRAN(init, (Int * code), *code = MPI_Init(nullptr, nullptr);)
FM_FORTRAN(init_thread, (Int * required, Int* provided, Int* code),
           *code = MPI_Init_thread(nullptr, nullptr, *required, provided);)
FM_FORTRAN(finalize, (Int * code), *code = MPI_Finalize();)

#define FM_FORTRAN_SEND(name, call)                                                           \
  FM_FORTRAN(name, (void* own, Int* count, Int* of, Int* to, Int* tag, Int* over, Int* code), \
             *code = call(data(own), *count, type(of), *to, *tag, comm(over));)
FM_FORTRAN_SEND(send, MPI_Send)
FM_FORTRAN_SEND(ssend, MPI_Ssend)
FM_FORTRAN_SEND(bsend, MPI_Bsend)
FM_FORTRAN_SEND(rsend, MPI_Rsend)

#define FM_FORTRAN_BEGIN(name, call)                                                                    \
  FM_FORTRAN(name,                                                                                      \
             (void* own, Int* count, Int* of, Int* peer, Int* tag, Int* over, Int* request, Int* code), \
             MPI_Request made = MPI_REQUEST_NULL;                                                       \
             *code = call(data(own), *count, type(of), *peer, *tag, comm(over), &made);                 \
             *request = MPI_Request_c2f(made);)
FM_FORTRAN_BEGIN(isend, MPI_Isend)
FM_FORTRAN_BEGIN(issend, MPI_Issend)
FM_FORTRAN_BEGIN(ibsend, MPI_Ibsend)
FM_FORTRAN_BEGIN(irsend, MPI_Irsend)
FM_FORTRAN_BEGIN(irecv, MPI_Irecv)
FM_FORTRAN_BEGIN(send_init, MPI_Send_init)
FM_FORTRAN_BEGIN(ssend_init, MPI_Ssend_init)
FM_FORTRAN_BEGIN(bsend_init, MPI_Bsend_init)
FM_FORTRAN_BEGIN(rsend_init, MPI_Rsend_init)
FM_FORTRAN_BEGIN(recv_init, MPI_Recv_init)

FM_FORTRAN(recv, (void* own, Int* count, Int* of, Int* from, Int* tag, Int* over, Int* status, Int* code),
           Status found(status);
           *code = MPI_Recv(data(own), *count, type(of), *from, *tag, comm(over), found.of_c());
           found.give();)
FM_FORTRAN(sendrecv,
           (void* own, Int* count, Int* of, Int* to, Int* tag, void* into, Int* room, Int* room_of, Int* from,
            Int* from_tag, Int* over, Int* status, Int* code),
           Status found(status);
           *code = MPI_Sendrecv(data(own), *count, type(of), *to, *tag, data(into), *room, type(room_of),
                                *from, *from_tag, comm(over), found.of_c());
           found.give();)
FM_FORTRAN(sendrecv_replace,
           (void* own, Int* count, Int* of, Int* to, Int* tag, Int* from, Int* from_tag, Int* over,
            Int* status, Int* code),
           Status found(status);
           *code = MPI_Sendrecv_replace(data(own), *count, type(of), *to, *tag, *from, *from_tag, comm(over),
                                        found.of_c());
           found.give();)
FM_FORTRAN(probe, (Int * from, Int* tag, Int* over, Int* status, Int* code), Status found(status);
           *code = MPI_Probe(*from, *tag, comm(over), found.of_c()); found.give();)
FM_FORTRAN(iprobe, (Int * from, Int* tag, Int* over, Int* flag, Int* status, Int* code), Status found(status);
           *code = MPI_Iprobe(*from, *tag, comm(over), flag, found.of_c()); if (*flag != 0) found.give();)

FM_FORTRAN(wait, (Int * request, Int* status, Int* code), Handles one(1, request); Status found(status);
           *code = MPI_Wait(one.of_c(), found.of_c()); one.give(); found.give();)
FM_FORTRAN(test, (Int * request, Int* flag, Int* status, Int* code), Handles one(1, request);
           Status found(status); *code = MPI_Test(one.of_c(), flag, found.of_c()); if (*flag == 0) return;
           one.give(); found.give();)
FM_FORTRAN(waitall, (Int * count, Int* requests, Int* given, Int* code), Handles all(*count, requests);
           Statuses found(*count, given); *code = MPI_Waitall(*count, all.of_c(), found.of_c()); all.give();
           found.give(*count);)
FM_FORTRAN(testall, (Int * count, Int* requests, Int* flag, Int* given, Int* code),
           Handles all(*count, requests);
           Statuses found(*count, given); *code = MPI_Testall(*count, all.of_c(), flag, found.of_c());
           if (*flag == 0) return; all.give(); found.give(*count);)
FM_FORTRAN(waitany, (Int * count, Int* requests, Int* place, Int* status, Int* code),
           Handles all(*count, requests);
           Status found(status); *code = MPI_Waitany(*count, all.of_c(), place, found.of_c()); all.give();
           found.give(); count_from_one(*place);)
FM_FORTRAN(testany, (Int * count, Int* requests, Int* place, Int* flag, Int* status, Int* code),
           Handles all(*count, requests);
           Status found(status); *code = MPI_Testany(*count, all.of_c(), place, flag, found.of_c());
           if (*flag == 0) return; all.give(); found.give(); count_from_one(*place);)
#define FM_FORTRAN_SOME(name, call)                                                                       \
  FM_FORTRAN(name, (Int * count, Int * requests, Int * done, Int * places, Int * given, Int * code),      \
             Handles all(*count, requests);                                                               \
             Statuses found(*count, given); *code = call(*count, all.of_c(), done, places, found.of_c()); \
             all.give(); if (*done == MPI_UNDEFINED) return; found.give(*done);                           \
             for (Int i = 0; i < *done; ++i)++ places[i];)
FM_FORTRAN_SOME(waitsome, MPI_Waitsome)
FM_FORTRAN_SOME(testsome, MPI_Testsome)
FM_FORTRAN(start, (Int * request, Int* code), Handles one(1, request); *code = MPI_Start(one.of_c());
           one.give();)
FM_FORTRAN(startall, (Int * count, Int* requests, Int* code), Handles all(*count, requests);
           *code = MPI_Startall(*count, all.of_c()); all.give();)
FM_FORTRAN(request_free, (Int * request, Int* code), Handles one(1, request);
           *code = MPI_Request_free(one.of_c()); one.give();)

FM_FORTRAN(barrier, (Int * over, Int* code), *code = MPI_Barrier(comm(over));)
FM_FORTRAN(bcast, (void* own, Int* count, Int* of, Int* root, Int* over, Int* code),
           *code = MPI_Bcast(data(own), *count, type(of), *root, comm(over));)
FM_FORTRAN(reduce, (void* own, void* into, Int* count, Int* of, Int* by, Int* root, Int* over, Int* code),
           *code = MPI_Reduce(data(own), data(into), *count, type(of), op(by), *root, comm(over));)
#define FM_FORTRAN_REDUCE(name, call)                                                           \
  FM_FORTRAN(name, (void* own, void* into, Int* count, Int* of, Int* by, Int* over, Int* code), \
             *code = call(data(own), data(into), *count, type(of), op(by), comm(over));)
FM_FORTRAN_REDUCE(allreduce, MPI_Allreduce)
FM_FORTRAN_REDUCE(scan, MPI_Scan)
FM_FORTRAN_REDUCE(exscan, MPI_Exscan)
FM_FORTRAN_REDUCE(reduce_scatter_block, MPI_Reduce_scatter_block)
FM_FORTRAN(reduce_scatter, (void* own, void* into, Int* counts, Int* of, Int* by, Int* over, Int* code),
           *code = MPI_Reduce_scatter(data(own), data(into), counts, type(of), op(by), comm(over));)

#define FM_FORTRAN_ROOT(name, call)                                                               \
  FM_FORTRAN(                                                                                     \
      name,                                                                                       \
      (void* own, Int* count, Int* of, void* into, Int* room, Int* room_of, Int* root, Int* over, \
       Int* code),                                                                                \
      *code = call(data(own), *count, type(of), data(into), *room, type(room_of), *root, comm(over));)
FM_FORTRAN_ROOT(gather, MPI_Gather)
FM_FORTRAN_ROOT(scatter, MPI_Scatter)
FM_FORTRAN(gatherv,
           (void* own, Int* count, Int* of, void* into, Int* rooms, Int* places, Int* room_of, Int* root,
            Int* over, Int* code),
           *code = MPI_Gatherv(data(own), *count, type(of), data(into), rooms, places, type(room_of), *root,
                               comm(over));)
FM_FORTRAN(scatterv,
           (void* own, Int* counts, Int* places, Int* of, void* into, Int* room, Int* room_of, Int* root,
            Int* over, Int* code),
           *code = MPI_Scatterv(data(own), counts, places, type(of), data(into), *room, type(room_of), *root,
                                comm(over));)
#define FM_FORTRAN_ALL(name, call)                                                                        \
  FM_FORTRAN(name,                                                                                        \
             (void* own, Int* count, Int* of, void* into, Int* room, Int* room_of, Int* over, Int* code), \
             *code = call(data(own), *count, type(of), data(into), *room, type(room_of), comm(over));)
FM_FORTRAN_ALL(allgather, MPI_Allgather)
FM_FORTRAN_ALL(alltoall, MPI_Alltoall)
FM_FORTRAN(allgatherv,
           (void* own, Int* count, Int* of, void* into, Int* rooms, Int* places, Int* room_of, Int* over,
            Int* code),
           *code = MPI_Allgatherv(data(own), *count, type(of), data(into), rooms, places, type(room_of),
                                  comm(over));)
FM_FORTRAN(alltoallv,
           (void* own, Int* counts, Int* places, Int* of, void* into, Int* rooms, Int* room_places,
            Int* room_of, Int* over, Int* code),
           *code = MPI_Alltoallv(data(own), counts, places, type(of), data(into), rooms, room_places,
                                 type(room_of), comm(over));)

FM_FORTRAN(comm_dup, (Int * parent, Int* into, Int* code), MPI_Comm made = MPI_COMM_NULL;
           *code = MPI_Comm_dup(comm(parent), &made); give(into, made, *code);)
FM_FORTRAN(comm_split, (Int * parent, Int* color, Int* key, Int* into, Int* code),
           MPI_Comm made = MPI_COMM_NULL;
           *code = MPI_Comm_split(comm(parent), *color, *key, &made); give(into, made, *code);)
FM_FORTRAN(comm_split_type, (Int * parent, Int* kind, Int* key, Int* info, Int* into, Int* code),
           MPI_Comm made = MPI_COMM_NULL;
           *code = MPI_Comm_split_type(comm(parent), *kind, *key, MPI_Info_f2c(*info), &made);
           give(into, made, *code);)
FM_FORTRAN(comm_create, (Int * parent, Int* group, Int* into, Int* code), MPI_Comm made = MPI_COMM_NULL;
           *code = MPI_Comm_create(comm(parent), MPI_Group_f2c(*group), &made); give(into, made, *code);)
FM_FORTRAN(comm_create_group, (Int * parent, Int* group, Int* tag, Int* into, Int* code),
           MPI_Comm made = MPI_COMM_NULL;
           *code = MPI_Comm_create_group(comm(parent), MPI_Group_f2c(*group), *tag, &made);
           give(into, made, *code);)
// Logicals are 0 or 1 of gfortran; others have all bits of a true one.
FM_FORTRAN(cart_create,
           (Int * parent, Int* dimensions, Int* sizes, Int* periods, Int* reorder, Int* into, Int* code),
           MPI_Comm made = MPI_COMM_NULL;
           std::vector<int> closed;
           for (Int i = 0; i < *dimensions; ++i) closed.push_back(periods[i] != 0 ? 1 : 0);
           *code = MPI_Cart_create(comm(parent), *dimensions, sizes, closed.data(), *reorder != 0 ? 1 : 0,
                                   &made);
           give(into, made, *code);)
FM_FORTRAN(comm_free, (Int * over, Int* code), MPI_Comm own = comm(over); *code = MPI_Comm_free(&own);
           if (*code == MPI_SUCCESS) * over = MPI_Comm_c2f(own);)
FM_FORTRAN(cart_sub, (Int * parent, Int* kept, Int* into, Int* code), MPI_Comm made = MPI_COMM_NULL;
           int dimensions = 0; std::vector<int> stays; MPI_Cartdim_get(comm(parent), &dimensions);
           for (Int i = 0; i < dimensions; ++i) stays.push_back(kept[i] != 0 ? 1 : 0);
           *code = MPI_Cart_sub(comm(parent), stays.data(), &made); give(into, made, *code);)
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

}  // extern "C"
#pragma GCC visibility pop

#endif
