// To be preloaded (LD_PRELOAD) into the ranks of MPI: some calls of many are wrong, the others are not.
// FABRICMARK_FAILING_MPI is KIND@RANK, of rank -1 on all:
//   count   writes at the end how many calls there were: "calls: Send 3", "calls: data 12"
//   fail    the call does nothing and returns an error
//   noop    the call does nothing and says that it has worked
//   flip, zero, near, stale, swap   what arrives has another bit, is 0, has a last float that is the next
//   one,
//           is what arrived the last time, or has its halves swapped
//   empty, short, tag, dest   a message has no elements, one less, another tag, or goes to the next rank
//   root, max                 an operation has the next root, or takes the largest value for the sum
// FABRICMARK_FAILING_CALLS is NAME:FIRST:LAST:EVERY: of the calls of that name, without MPI_, from 1 on;
// "data": of all that move data of the ranks' own (those of MPI_BYTE are the suite's).
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Bytes = std::vector<char>;

struct Fault {
  Fault() {
    const char* const text = std::getenv("FABRICMARK_FAILING_MPI");
    const char* const calls = std::getenv("FABRICMARK_FAILING_CALLS");
    if (text == nullptr || std::sscanf(text, "%15[a-z]@%ld", kind, &rank) != 2) return;
    if (calls != nullptr) std::sscanf(calls, "%31[A-Za-z_]:%ld:%ld:%ld", name, &first, &last, &every);
    is_here = rank < 0;
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
      const char* const own = std::getenv(variable);
      if (own != nullptr && std::strtol(own, nullptr, 10) == rank) is_here = true;
    }
  }
  [[nodiscard]] bool is(const char* wanted) const { return std::strcmp(kind, wanted) == 0; }
  bool hits(const char* called, bool has_data) {
    if (!is_here) return false;
    if (is("count")) ++calls[called];
    if (is("count") && has_data) ++calls["data"];
    const bool is_meant = std::strcmp(name, "data") == 0 ? has_data : std::strcmp(called, name) == 0;
    if (!is_meant) return false;
    ++number;
    return number >= first && number <= last && (number - first) % every == 0;
  }
  char kind[16] = "";
  char name[32] = "";
  long rank = 0;
  long first = 1;
  long last = 0;
  long every = 1;
  long number = 0;
  bool is_here = false;
  std::map<std::string, long> calls;
  std::map<std::size_t, Bytes> seen;  // by their bytes
};

Fault& fault() {
  static auto* const one = new Fault;  // outlives all that runs at the end
  return *one;
}

std::size_t bytes_of(long count, MPI_Datatype type) {
  int width = 1;
  PMPI_Type_size(type, &width);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(width);
}
int size_of(MPI_Comm ranks) {
  int size = 1;
  PMPI_Comm_size(ranks, &size);
  return size;
}

void corrupt(void* result, std::size_t bytes, MPI_Datatype type) {
  auto* const data = static_cast<char*>(result);
  if (data == nullptr || bytes == 0) return;
  const Bytes arrived(data, data + bytes);
  if (fault().is("flip")) data[bytes * 3 / 4] = static_cast<char>(data[bytes * 3 / 4] ^ 4);
  if (fault().is("zero")) std::memset(data, 0, bytes);
  if (fault().is("near") && type == MPI_FLOAT) {
    float last = 0;
    std::memcpy(&last, data + bytes - sizeof last, sizeof last);
    last *= 1.0000002F;
    std::memcpy(data + bytes - sizeof last, &last, sizeof last);
  }
  if (fault().is("swap")) {
    for (std::size_t i = 0; i < bytes / 2; ++i) std::swap(data[i], data[bytes / 2 + i]);
  }
}

/// What arrived the last time, of as many bytes; keeps what has arrived now.
void make_stale(void* result, std::size_t bytes, bool hits) {
  if (!fault().is("stale") || result == nullptr || bytes == 0) return;
  auto* const data = static_cast<char*>(result);
  Bytes arrived(data, data + bytes);
  Bytes& before = fault().seen[bytes];
  if (hits && !before.empty()) std::memcpy(data, before.data(), bytes);
  before = std::move(arrived);
}

/// Any call; what it returns where it is not made.
template <typename Call>
int plain(const char* name, const Call& call) {
  if (!fault().hits(name, false)) return call();
  return fault().is("fail") ? MPI_ERR_OTHER : fault().is("noop") ? MPI_SUCCESS : call();
}

/// A call that leaves `result`.
template <typename Call>
int with_result(const char* name, void* result, std::size_t bytes, MPI_Datatype type, MPI_Request* request,
                const Call& call) {
  const bool hits = fault().hits(name, type != MPI_BYTE);
  if (hits && fault().is("fail")) return MPI_ERR_OTHER;
  if (hits && fault().is("noop")) {
    if (request != nullptr) *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  const int code = call(hits);
  const bool looks = code == MPI_SUCCESS && type != MPI_BYTE && (hits || fault().is("stale"));
  if (!looks) return code;
  if (request != nullptr) PMPI_Wait(request, MPI_STATUS_IGNORE);
  if (hits) corrupt(result, bytes, type);
  make_stale(result, bytes, hits);
  return code;
}

/// A message that leaves: `call(data, count, to, tag)`. What it has is corrupted here: where it arrives
/// without blocking, its memory is not known when it has.
template <typename Call>
int sending(const char* name, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
            MPI_Request* request, const Call& call) {
  const bool hits = fault().hits(name, type != MPI_BYTE);
  const std::size_t bytes = bytes_of(count, type);
  if (type != MPI_BYTE && (hits || fault().is("stale"))) {
    auto* const copy = new Bytes(static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
    if (hits) corrupt(copy->data(), bytes, type);
    make_stale(copy->data(), bytes, hits);
    data = copy->data();  // kept for ever: a call that does not block goes on
  }
  if (!hits) return call(data, count, to, tag);
  if (fault().is("fail")) return MPI_ERR_OTHER;
  if (fault().is("noop")) {
    if (request != nullptr) *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  if (fault().is("empty")) count = 0;
  if (fault().is("short")) count -= 1;
  if (fault().is("tag")) ++tag;
  if (fault().is("dest")) to = (to + 1) % size_of(ranks);
  return call(data, count, to, tag);
}

MPI_Op op_of(MPI_Op op, bool hits) { return hits && fault().is("max") ? MPI_MAX : op; }
int root_of(int root, bool hits, MPI_Comm ranks) {
  return hits && fault().is("root") ? (root + 1) % size_of(ranks) : root;
}

}  // namespace

// NOLINTBEGIN: the names and arguments are MPI's
#define FM_PLAIN(name, parameters, arguments)                   \
  int MPI_##name parameters {                                   \
    return plain(#name, [&] { return PMPI_##name arguments; }); \
  }
/// Twice: the call that blocks, and the one that does not.
#define FM_BOTH(name, other, parameters, arguments, result, bytes, type)                              \
  int MPI_##name(parameters) {                                                                        \
    return with_result(#name, result, bytes, type, nullptr,                                           \
                       [&]([[maybe_unused]] bool hits) { return PMPI_##name(arguments); });           \
  }                                                                                                   \
  int MPI_##other(parameters, MPI_Request* request) {                                                 \
    return with_result(#other, result, bytes, type, request,                                          \
                       [&]([[maybe_unused]] bool hits) { return PMPI_##other(arguments, request); }); \
  }
#define FM_WITH_COUNTS(name, parameters, arguments, result, bytes, type)                                   \
  int MPI_##name(parameters) {                                                                             \
    return with_result(#name, result, bytes, type, nullptr, [&](bool) { return PMPI_##name(arguments); }); \
  }
#define FM_LIST(...) __VA_ARGS__

extern "C" {

FM_PLAIN(Init_thread, (int* argc, char*** argv, int wanted, int* got), (argc, argv, wanted, got))
FM_PLAIN(Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler h), (c, h))
FM_PLAIN(Comm_rank, (MPI_Comm c, int* rank), (c, rank))
FM_PLAIN(Comm_size, (MPI_Comm c, int* size), (c, size))
FM_PLAIN(Comm_dup, (MPI_Comm c, MPI_Comm* copy), (c, copy))
FM_PLAIN(Comm_idup, (MPI_Comm c, MPI_Comm* copy, MPI_Request* r), (c, copy, r))
FM_PLAIN(Comm_get_attr, (MPI_Comm c, int key, void* value, int* found), (c, key, value, found))
FM_PLAIN(Get_processor_name, (char* text, int* length), (text, length))
FM_PLAIN(Get_library_version, (char* text, int* length), (text, length))
FM_PLAIN(Get_count, (const MPI_Status* s, MPI_Datatype t, int* count), (s, t, count))
FM_PLAIN(Type_size, (MPI_Datatype t, int* size), (t, size))
FM_PLAIN(Wait, (MPI_Request * r, MPI_Status* s), (r, s))
FM_PLAIN(Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
FM_PLAIN(Test, (MPI_Request * r, int* done, MPI_Status* s), (r, done, s))
FM_PLAIN(Testall, (int n, MPI_Request* r, int* done, MPI_Status* s), (n, r, done, s))
FM_PLAIN(Cancel, (MPI_Request * r), (r))
FM_PLAIN(Request_free, (MPI_Request * r), (r))

int MPI_Send(const void* d, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  return sending("Send", d, n, t, to, tag, c, nullptr,
                 [&](const void* data, int count, int target, int own_tag) {
                   return PMPI_Send(data, count, t, target, own_tag, c);
                 });
}
int MPI_Isend(const void* d, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  return sending("Isend", d, n, t, to, tag, c, r, [&](const void* data, int count, int target, int own_tag) {
    return PMPI_Isend(data, count, t, target, own_tag, c, r);
  });
}
FM_PLAIN(Recv, (void* d, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
         (d, n, t, from, tag, c, s))
FM_PLAIN(Irecv, (void* d, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
         (d, n, t, from, tag, c, r))

int MPI_Barrier(MPI_Comm c) {
  return with_result("Barrier", nullptr, 0, MPI_CHAR, nullptr, [&](bool) { return PMPI_Barrier(c); });
}
int MPI_Ibarrier(MPI_Comm c, MPI_Request* r) {
  return with_result("Ibarrier", nullptr, 0, MPI_CHAR, r, [&](bool) { return PMPI_Ibarrier(c, r); });
}
FM_BOTH(Bcast, Ibcast, FM_LIST(void* d, int n, MPI_Datatype t, int root, MPI_Comm c),
        FM_LIST(d, n, t, root_of(root, hits, c), c), d, bytes_of(n, t), t)
FM_BOTH(Scatter, Iscatter,
        FM_LIST(const void* d, int n, MPI_Datatype t, void* e, int m, MPI_Datatype u, int root, MPI_Comm c),
        FM_LIST(d, n, t, e, m, u, root, c), e, bytes_of(m, u), u)
FM_BOTH(Gather, Igather,
        FM_LIST(const void* d, int n, MPI_Datatype t, void* e, int m, MPI_Datatype u, int root, MPI_Comm c),
        FM_LIST(d, n, t, e, m, u, root, c), e, bytes_of(long{m} * size_of(c), u), u)
FM_BOTH(Allgather, Iallgather,
        FM_LIST(const void* d, int n, MPI_Datatype t, void* e, int m, MPI_Datatype u, MPI_Comm c),
        FM_LIST(d, n, t, e, m, u, c), e, bytes_of(long{m} * size_of(c), u), u)
FM_BOTH(Alltoall, Ialltoall,
        FM_LIST(const void* d, int n, MPI_Datatype t, void* e, int m, MPI_Datatype u, MPI_Comm c),
        FM_LIST(d, n, t, e, m, u, c), e, bytes_of(long{m} * size_of(c), u), u)
FM_BOTH(Allreduce, Iallreduce, FM_LIST(const void* d, void* e, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        FM_LIST(d, e, n, t, op_of(o, hits), c), e, bytes_of(n, t), t)
FM_BOTH(Reduce, Ireduce,
        FM_LIST(const void* d, void* e, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
        FM_LIST(d, e, n, t, op_of(o, hits), root, c), e, bytes_of(n, t), t)
FM_BOTH(Reduce_scatter, Ireduce_scatter,
        FM_LIST(const void* d, void* e, const int* n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        FM_LIST(d, e, n, t, op_of(o, hits), c), e, bytes_of(n[0], t), t)
FM_WITH_COUNTS(Scatterv,
               FM_LIST(const void* d, const int* n, const int* p, MPI_Datatype t, void* e, int m,
                       MPI_Datatype u, int root, MPI_Comm c),
               FM_LIST(d, n, p, t, e, m, u, root, c), e, bytes_of(m, u), u)
FM_WITH_COUNTS(Gatherv,
               FM_LIST(const void* d, int n, MPI_Datatype t, void* e, const int* m, const int* p,
                       MPI_Datatype u, int root, MPI_Comm c),
               FM_LIST(d, n, t, e, m, p, u, root, c), e, bytes_of(long{n} * size_of(c), u), u)
FM_WITH_COUNTS(Allgatherv,
               FM_LIST(const void* d, int n, MPI_Datatype t, void* e, const int* m, const int* p,
                       MPI_Datatype u, MPI_Comm c),
               FM_LIST(d, n, t, e, m, p, u, c), e, bytes_of(long{n} * size_of(c), u), u)
FM_WITH_COUNTS(Alltoallv,
               FM_LIST(const void* d, const int* n, const int* p, MPI_Datatype t, void* e, const int* m,
                       const int* q, MPI_Datatype u, MPI_Comm c),
               FM_LIST(d, n, p, t, e, m, q, u, c), e, bytes_of(long{m[0]} * size_of(c), u), u)

int MPI_Finalize() {
  for (const auto& [name, count] : fault().calls)
    std::fprintf(stderr, "calls: %s %ld\n", name.c_str(), count);
  return PMPI_Finalize();
}
}
// NOLINTEND
