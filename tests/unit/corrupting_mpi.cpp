// To be preloaded (LD_PRELOAD) into a rank of MPI: a library whose results are wrong.
// FABRICMARK_CORRUPTED_MPI is KIND or KIND@RANK, without a rank on all of them, of what arrives in messages
// and operations:
//   flip     one bit of one byte is another one, at three quarters of it
//   add      0.9 is added to one float, 1 to one element of another type
//   other    it is another rank's data
//   stale    it is what arrived before, of as many bytes
//   nothing  nothing arrives, and a barrier holds up nobody
//   lost     the second message that is sent does not leave
// Messages of MPI_BYTE are left alone: those of the suite's own.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Bytes = std::vector<char>;

/// What arrives at the end of a call that does not block.
struct Arriving {
  char* data = nullptr;
  std::size_t bytes = 0;
  MPI_Datatype type = MPI_CHAR;
  Bytes before;
};

struct State {
  State() {
    const char* const text = std::getenv("FABRICMARK_CORRUPTED_MPI");
    if (text == nullptr) return;
    kind = text;
    const std::size_t at = kind.find('@');
    if (at == std::string::npos) return;
    rank = std::atoi(kind.c_str() + at + 1);
    kind.resize(at);
  }
  std::string kind;
  int rank = -1;
  int sent = 0;
  Bytes seen;                         // the last message that arrived
  std::map<std::size_t, Bytes> last;  // by their bytes
  std::map<MPI_Request, Arriving> arriving;
};

State& state() {
  static State* const one = new State;  // outlives all that runs at the end
  return *one;
}

int own_rank(MPI_Comm ranks) {
  int rank = 0;
  PMPI_Comm_rank(ranks, &rank);
  return rank;
}

int size_of(MPI_Comm ranks) {
  int size = 1;
  PMPI_Comm_size(ranks, &size);
  return size;
}

bool is(const char* kind, MPI_Comm ranks = MPI_COMM_WORLD) {
  return state().kind == kind && (state().rank < 0 || state().rank == own_rank(ranks));
}

std::size_t width(MPI_Datatype type) {
  int bytes = 1;
  PMPI_Type_size(type, &bytes);
  return static_cast<std::size_t>(bytes);
}

void add_to_first(char* data, MPI_Datatype type) {
  if (type == MPI_FLOAT) {
    float value = 0;
    std::memcpy(&value, data, sizeof value);
    value += 0.9F;
    std::memcpy(data, &value, sizeof value);
  } else {
    ++*data;  // of whole numbers in the order of this machine the least byte
  }
}

/// `before`: what lay there before the call.
void corrupt(char* data, std::size_t bytes, MPI_Datatype type, const Bytes& before) {
  if (data == nullptr || bytes == 0) return;
  const Bytes arrived(data, data + bytes);
  if (is("flip")) data[bytes * 3 / 4] = static_cast<char>(data[bytes * 3 / 4] ^ 0x20);
  if (is("add")) add_to_first(data, type);
  if (is("nothing")) std::memcpy(data, before.data(), bytes);
  if (is("stale")) {
    const auto found = state().last.find(bytes);
    if (found != state().last.end()) std::memcpy(data, found->second.data(), bytes);
    state().last[bytes] = arrived;
  }
  state().seen = arrived;
}

/// What is sent in place of the data, where it is to be another rank's: what came from there.
Bytes replaced(const void* data, std::size_t bytes) {
  const char* const own = static_cast<const char*>(data);
  Bytes sent(own, own + bytes);
  if (!is("other")) return sent;
  for (std::size_t i = 0; i < bytes; ++i)
    sent[i] = state().seen.empty() ? '\0' : state().seen[i % state().seen.size()];
  return sent;
}

/// The memory of a call's result.
struct Result {
  Result(void* to, std::size_t size, MPI_Datatype of)
      : data(static_cast<char*>(to)), bytes(to == nullptr ? 0 : size), type(of), before(data, data + bytes) {}
  int end(int code) const {
    corrupt(data, bytes, type, before);
    return code;
  }
  int start(int code, MPI_Request* request) const {
    state().arriving[*request] = {data, bytes, type, before};
    return code;
  }
  char* data;
  std::size_t bytes;
  MPI_Datatype type;
  Bytes before;
};

void arrive(MPI_Request request) {
  const auto found = state().arriving.find(request);
  if (found == state().arriving.end()) return;
  const Arriving one = std::move(found->second);
  state().arriving.erase(found);
  corrupt(one.data, one.bytes, one.type, one.before);
}

/// An operand of a rank's own, of `parts` parts of the same size: in place of rank 1's there are rank 0's,
/// and where only one rank has any, its first two parts are swapped, or of one part all elements are in
/// reverse.
class Operand {
 public:
  Operand(const void* data, std::size_t elements, std::size_t parts, MPI_Datatype type, MPI_Comm ranks,
          bool is_of_all) {
    given_ = data;
    if (state().kind != "other") return;
    const std::size_t bytes = elements * parts * width(type);
    if (is_of_all) {
      Bytes first(bytes);
      if (own_rank(ranks) == 0) std::memcpy(first.data(), data, bytes);
      PMPI_Bcast(first.data(), static_cast<int>(bytes), MPI_CHAR, 0, ranks);
      if (own_rank(ranks) != 1) return;
      changed_ = std::move(first);
    } else if (data != nullptr) {
      changed_.assign(static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
      const std::size_t step = parts > 1 ? elements * width(type) : width(type);
      for (std::size_t i = 0; i < step && bytes >= 2 * step; ++i) std::swap(changed_[i], changed_[step + i]);
    }
    given_ = changed_.data();
  }
  [[nodiscard]] const void* data() const { return given_; }
  /// For calls that go on: kept for ever.
  [[nodiscard]] const void* kept() const {
    if (changed_.empty()) return given_;
    return (new Bytes(changed_))->data();
  }

 private:
  const void* given_ = nullptr;
  Bytes changed_;
};

std::size_t parts(MPI_Comm ranks) { return static_cast<std::size_t>(size_of(ranks)); }
std::size_t bytes_of(int count, MPI_Datatype type) { return static_cast<std::size_t>(count) * width(type); }

}  // namespace

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks) {
  if (is("lost") && ++state().sent == 2) return MPI_SUCCESS;
  return PMPI_Send(replaced(data, bytes_of(count, type)).data(), count, type, to, tag, ranks);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks,
             MPI_Status* status) {
  const Result result(data, bytes_of(count, type), type);
  return result.end(PMPI_Recv(data, count, type, from, tag, ranks, status));
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
              MPI_Request* request) {
  if (type == MPI_BYTE || !is("other")) return PMPI_Isend(data, count, type, to, tag, ranks, request);
  auto* const kept = new Bytes(replaced(data, bytes_of(count, type)));
  return PMPI_Isend(kept->data(), count, type, to, tag, ranks, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks,
              MPI_Request* request) {
  if (type == MPI_BYTE) return PMPI_Irecv(data, count, type, from, tag, ranks, request);
  const Result result(data, bytes_of(count, type), type);
  return result.start(PMPI_Irecv(data, count, type, from, tag, ranks, request), request);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const std::vector<MPI_Request> started(requests, requests + count);
  const int code = PMPI_Waitall(count, requests, statuses);
  for (MPI_Request one : started) arrive(one);
  return code;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  MPI_Request started = *request;
  const int code = PMPI_Wait(request, status);
  arrive(started);
  return code;
}

int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  MPI_Request started = *request;
  const int code = PMPI_Test(request, is_done, status);
  if (*is_done != 0) arrive(started);
  return code;
}

// NOLINTBEGIN: the arguments are MPI's

int MPI_Barrier(MPI_Comm ranks) { return is("nothing") ? MPI_SUCCESS : PMPI_Barrier(ranks); }
int MPI_Ibarrier(MPI_Comm ranks, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return is("nothing") ? MPI_SUCCESS : PMPI_Ibarrier(ranks, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm ranks) {
  if (own_rank(ranks) == root) {
    const Operand own(data, count, 1, type, ranks, false);
    Bytes sent(static_cast<const char*>(own.data()),
               static_cast<const char*>(own.data()) + bytes_of(count, type));
    return PMPI_Bcast(sent.data(), count, type, root, ranks);
  }
  const Result result(data, bytes_of(count, type), type);
  return result.end(PMPI_Bcast(data, count, type, root, ranks));
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm ranks, MPI_Request* request) {
  if (own_rank(ranks) == root) {
    const Operand own(data, count, 1, type, ranks, false);
    return PMPI_Ibcast(const_cast<void*>(own.kept()), count, type, root, ranks, request);
  }
  const Result result(data, bytes_of(count, type), type);
  return result.start(PMPI_Ibcast(data, count, type, root, ranks, request), request);
}

int MPI_Scatter(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type, int root,
                MPI_Comm ranks) {
  const Operand own(from, sent, parts(ranks), a, ranks, false);
  const Result result(to, bytes_of(count, type), type);
  return result.end(PMPI_Scatter(own.data(), sent, a, to, count, type, root, ranks));
}
int MPI_Iscatter(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type, int root,
                 MPI_Comm ranks, MPI_Request* request) {
  const Operand own(from, sent, parts(ranks), a, ranks, false);
  const Result result(to, bytes_of(count, type), type);
  return result.start(PMPI_Iscatter(own.kept(), sent, a, to, count, type, root, ranks, request), request);
}
int MPI_Scatterv(const void* from, const int* counts, const int* places, MPI_Datatype a, void* to, int count,
                 MPI_Datatype type, int root, MPI_Comm ranks) {
  const Operand own(from, count, parts(ranks), a, ranks, false);
  const Result result(to, bytes_of(count, type), type);
  return result.end(PMPI_Scatterv(own.data(), counts, places, a, to, count, type, root, ranks));
}

int MPI_Gather(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type, int root,
               MPI_Comm ranks) {
  const Operand own(from, sent, 1, a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(count, type), type);
  return result.end(PMPI_Gather(own.data(), sent, a, to, count, type, root, ranks));
}
int MPI_Igather(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type, int root,
                MPI_Comm ranks, MPI_Request* request) {
  const Operand own(from, sent, 1, a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(count, type), type);
  return result.start(PMPI_Igather(own.kept(), sent, a, to, count, type, root, ranks, request), request);
}
int MPI_Gatherv(const void* from, int sent, MPI_Datatype a, void* to, const int* counts, const int* places,
                MPI_Datatype type, int root, MPI_Comm ranks) {
  const Operand own(from, sent, 1, a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(sent, type), type);
  return result.end(PMPI_Gatherv(own.data(), sent, a, to, counts, places, type, root, ranks));
}

int MPI_Allgather(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type,
                  MPI_Comm ranks) {
  const Operand own(from, sent, 1, a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(count, type), type);
  return result.end(PMPI_Allgather(own.data(), sent, a, to, count, type, ranks));
}
int MPI_Iallgather(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type,
                   MPI_Comm ranks, MPI_Request* request) {
  const Operand own(from, sent, 1, a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(count, type), type);
  return result.start(PMPI_Iallgather(own.kept(), sent, a, to, count, type, ranks, request), request);
}
int MPI_Allgatherv(const void* from, int sent, MPI_Datatype a, void* to, const int* counts, const int* places,
                   MPI_Datatype type, MPI_Comm ranks) {
  const Operand own(from, sent, 1, a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(sent, type), type);
  return result.end(PMPI_Allgatherv(own.data(), sent, a, to, counts, places, type, ranks));
}

int MPI_Alltoall(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type,
                 MPI_Comm ranks) {
  const Operand own(from, sent, parts(ranks), a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(count, type), type);
  return result.end(PMPI_Alltoall(own.data(), sent, a, to, count, type, ranks));
}
int MPI_Ialltoall(const void* from, int sent, MPI_Datatype a, void* to, int count, MPI_Datatype type,
                  MPI_Comm ranks, MPI_Request* request) {
  const Operand own(from, sent, parts(ranks), a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(count, type), type);
  return result.start(PMPI_Ialltoall(own.kept(), sent, a, to, count, type, ranks, request), request);
}
int MPI_Alltoallv(const void* from, const int* sent, const int* from_places, MPI_Datatype a, void* to,
                  const int* counts, const int* places, MPI_Datatype type, MPI_Comm ranks) {
  const Operand own(from, sent[0], parts(ranks), a, ranks, true);
  const Result result(to, parts(ranks) * bytes_of(counts[0], type), type);
  return result.end(PMPI_Alltoallv(own.data(), sent, from_places, a, to, counts, places, type, ranks));
}

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm ranks) {
  const Operand own(from, count, 1, type, ranks, true);
  const Result result(own_rank(ranks) == root ? to : nullptr, bytes_of(count, type), type);
  return result.end(PMPI_Reduce(own.data(), to, count, type, op, root, ranks));
}
int MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm ranks,
                MPI_Request* request) {
  const Operand own(from, count, 1, type, ranks, true);
  const Result result(own_rank(ranks) == root ? to : nullptr, bytes_of(count, type), type);
  return result.start(PMPI_Ireduce(own.kept(), to, count, type, op, root, ranks, request), request);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm ranks) {
  const Operand own(from, count, 1, type, ranks, true);
  const Result result(to, bytes_of(count, type), type);
  return result.end(PMPI_Allreduce(own.data(), to, count, type, op, ranks));
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm ranks,
                   MPI_Request* request) {
  const Operand own(from, count, 1, type, ranks, true);
  const Result result(to, bytes_of(count, type), type);
  return result.start(PMPI_Iallreduce(own.kept(), to, count, type, op, ranks, request), request);
}
int MPI_Reduce_scatter(const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm ranks) {
  const Operand own(from, counts[0], parts(ranks), type, ranks, true);
  const Result result(to, bytes_of(counts[0], type), type);
  return result.end(PMPI_Reduce_scatter(own.data(), to, counts, type, op, ranks));
}
int MPI_Ireduce_scatter(const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op,
                        MPI_Comm ranks, MPI_Request* request) {
  const Operand own(from, counts[0], parts(ranks), type, ranks, true);
  const Result result(to, bytes_of(counts[0], type), type);
  return result.start(PMPI_Ireduce_scatter(own.kept(), to, counts, type, op, ranks, request), request);
}

// NOLINTEND
}
