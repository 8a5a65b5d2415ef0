// Messages between two ranks, as the program calls them: the MPI library does the work (PMPI), then it is
// noted.
#include <mpi.h>

#include <array>

#include "record/recorder.hpp"

using namespace fabricmark::record;  // names of MPI are global

namespace {

constexpr std::size_t kMostRequests = Requests::kMost;
/// Of a call that waits for several.
Room<std::uintptr_t>& handles() {
  static auto* const room = new Room<std::uintptr_t>(kMostRequests);  // as long as the process
  return *room;
}
Room<MPI_Status>& statuses() {
  static auto* const room = new Room<MPI_Status>(kMostRequests);
  return *room;
}

const Communicator* known(Timed& call, MPI_Comm communicator, const char* name) {
  if (!call.is_on()) return nullptr;
  const Communicator* found = Recorder::of_process().find(communicator);
  if (found == nullptr) Recorder::of_process().count_unmodelled(name);
  return found;
}

Signature send_of(Call call, const Communicator& over, int to, int tag, std::int64_t bytes) {
  return {.call = call, .communicator = over.id, .to = in_world(over, to), .tag = tag, .bytes = bytes};
}

/// `from` and `tag` may be any: then those of a status count, where there is one.
Signature receive_of(Call call, const Communicator& over, int from, int tag, std::int64_t room,
                     const MPI_Status* status) {
  if (status != nullptr && from == MPI_ANY_SOURCE) from = status->MPI_SOURCE;
  if (status != nullptr && tag == MPI_ANY_TAG) tag = status->MPI_TAG;
  const bool is_known = from != MPI_ANY_SOURCE && tag != MPI_ANY_TAG;
  return {.call = call,
          .communicator = over.id,
          .from = is_known ? in_world(over, from) : Signature::kNone,
          .from_tag = is_known ? tag : 0,
          .room_bytes = room};
}

int sent(Timed call, int code, Call kind, int count, MPI_Datatype type, int to, int tag, MPI_Comm over,
         const char* name) {
  const Communicator* found = known(call, over, name);
  if (found != nullptr && to != MPI_PROC_NULL)
    call.note(send_of(kind, *found, to, tag, bytes_of(count, type)));
  return code;
}

/// One side of a call that sends and receives. `bytes`: sent, or that there is room for.
struct Side {
  int peer;
  int tag;
  std::int64_t bytes;
};

int exchanged(Timed call, int code, const Side& to, const Side& from, MPI_Comm over, const MPI_Status& status,
              const char* name) {
  const Communicator* found = known(call, over, name);
  if (found == nullptr) return code;
  Signature both{.call = Call::kSendrecv, .communicator = found->id};
  if (from.peer != MPI_PROC_NULL)
    both = receive_of(Call::kSendrecv, *found, from.peer, from.tag, from.bytes, &status);
  if (to.peer != MPI_PROC_NULL) {
    both.to = in_world(*found, to.peer);
    both.tag = to.tag;
    both.bytes = to.bytes;
  }
  call.note(both);
  return code;
}

/// Of a request that has begun; a persistent one begins later.
void begin(Timed& call, Signature signature, MPI_Request request, bool is_persistent) {
  if (request == MPI_REQUEST_NULL) return;
  Requests& all = Recorder::of_process().requests();
  const std::int32_t slot = all.take(number_of(request));
  if (slot == Signature::kNone) return Recorder::of_process().count_unmodelled("requests beyond 65536");
  signature.slot = slot;
  Request& own = all[slot];
  own.begun = signature;
  own.is_persistent = is_persistent;
  own.is_active = !is_persistent;
  if (!is_persistent) call.note(signature);
}

int begun_send(Timed call, int code, int count, MPI_Datatype type, int to, int tag, MPI_Comm over,
               const MPI_Request* request, bool is_persistent, const char* name) {
  const Communicator* found = known(call, over, name);
  if (found != nullptr && to != MPI_PROC_NULL)
    begin(call, send_of(Call::kIsend, *found, to, tag, bytes_of(count, type)), *request, is_persistent);
  return code;
}

int begun_receive(Timed call, int code, int count, MPI_Datatype type, int from, int tag, MPI_Comm over,
                  const MPI_Request* request, bool is_persistent, const char* name) {
  const Communicator* found = known(call, over, name);
  if (found != nullptr && from != MPI_PROC_NULL)
    begin(call, receive_of(Call::kIrecv, *found, from, tag, bytes_of(count, type), nullptr), *request,
          is_persistent);
  return code;
}

/// A request is done. What a receive from anybody got is known now.
void waited(Timed& call, std::uintptr_t handle, const MPI_Status& status) {
  Recorder& recorder = Recorder::of_process();
  Request* own = recorder.requests().find(handle);
  if (own == nullptr || !own->is_active) return;
  Signature signature{.call = Call::kWait, .slot = own->begun.slot};
  if (own->begun.call == Call::kIrecv && own->begun.from == Signature::kNone) {
    signature.communicator = own->begun.communicator;
    signature.room_bytes = own->begun.room_bytes;
    signature.from_tag = status.MPI_TAG;
    const Communicator* over = recorder.with_id(signature.communicator);
    if (over != nullptr) signature.from = in_world(*over, status.MPI_SOURCE);
  }
  call.note(signature);
  own->is_active = false;
  if (!own->is_persistent) recorder.requests().give_back(own->begun.slot);
}

/// Handles before they are done with. False where there are too many.
bool keep_handles(int count, const MPI_Request* requests) {
  if (count < 0 || static_cast<std::size_t>(count) > handles().capacity()) {
    Recorder::of_process().count_unmodelled("waits for more than 65536 requests");
    return false;
  }
  for (int i = 0; i < count; ++i) handles()[static_cast<std::size_t>(i)] = number_of(requests[i]);
  return true;
}

MPI_Status* own_statuses(MPI_Status* given) {
  return given == MPI_STATUSES_IGNORE ? statuses().data() : given;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

#define FM_SEND(name, kind)                                                                        \
  int MPI_##name(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm over) { \
    Timed call;                                                                                    \
    const int code = call.done(PMPI_##name(data, count, type, to, tag, over));                     \
    return sent(call, code, kind, count, type, to, tag, over, "MPI_" #name);                       \
  }
FM_SEND(Send, Call::kSend)
FM_SEND(Ssend, Call::kSend)
FM_SEND(Bsend, Call::kSend)
FM_SEND(Rsend, Call::kSend)

#define FM_ISEND(name, is_persistent)                                                                \
  int MPI_##name(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm over,     \
                 MPI_Request* request) {                                                             \
    Timed call;                                                                                      \
    const int code = call.done(PMPI_##name(data, count, type, to, tag, over, request));              \
    return begun_send(call, code, count, type, to, tag, over, request, is_persistent, "MPI_" #name); \
  }
FM_ISEND(Isend, false)
FM_ISEND(Issend, false)
FM_ISEND(Ibsend, false)
FM_ISEND(Irsend, false)
FM_ISEND(Send_init, true)
FM_ISEND(Ssend_init, true)
FM_ISEND(Bsend_init, true)
FM_ISEND(Rsend_init, true)

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm over, MPI_Status* status) {
  Timed call;
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Recv(data, count, type, from, tag, over, used));
  const Communicator* found = known(call, over, "MPI_Recv");
  if (found != nullptr && from != MPI_PROC_NULL)
    call.note(receive_of(Call::kRecv, *found, from, tag, bytes_of(count, type), used));
  return code;
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm over,
              MPI_Request* request) {
  Timed call;
  const int code = call.done(PMPI_Irecv(data, count, type, from, tag, over, request));
  return begun_receive(call, code, count, type, from, tag, over, request, false, "MPI_Irecv");
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm over,
                  MPI_Request* request) {
  Timed call;
  const int code = call.done(PMPI_Recv_init(data, count, type, from, tag, over, request));
  return begun_receive(call, code, count, type, from, tag, over, request, true, "MPI_Recv_init");
}

int MPI_Start(MPI_Request* request) {
  Timed call;
  const int code = call.done(PMPI_Start(request));
  if (!call.is_on()) return code;
  Request* own = Recorder::of_process().requests().find(number_of(*request));
  if (own == nullptr) return code;
  own->is_active = true;
  call.note(own->begun);
  return code;
}

int MPI_Startall(int count, MPI_Request* requests) {
  Timed call;
  const int code = call.done(PMPI_Startall(count, requests));
  if (!call.is_on()) return code;
  for (int i = 0; i < count; ++i) {
    Request* own = Recorder::of_process().requests().find(number_of(requests[i]));
    if (own == nullptr) continue;
    own->is_active = true;
    call.note(own->begun);
  }
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  const Timed call;
  if (call.is_on()) {
    Requests& all = Recorder::of_process().requests();
    const Request* own = all.find(number_of(*request));
    if (own != nullptr) all.give_back(own->begun.slot);
  }
  return PMPI_Request_free(request);
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* into, int room,
                 MPI_Datatype room_type, int from, int from_tag, MPI_Comm over, MPI_Status* status) {
  Timed call;
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code =
      call.done(PMPI_Sendrecv(data, count, type, to, tag, into, room, room_type, from, from_tag, over, used));
  return exchanged(call, code, {to, tag, bytes_of(count, type)}, {from, from_tag, bytes_of(room, room_type)},
                   over, *used, "MPI_Sendrecv");
}

int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int tag, int from, int from_tag,
                         MPI_Comm over, MPI_Status* status) {
  Timed call;
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Sendrecv_replace(data, count, type, to, tag, from, from_tag, over, used));
  const std::int64_t bytes = bytes_of(count, type);
  return exchanged(call, code, {to, tag, bytes}, {from, from_tag, bytes}, over, *used,
                   "MPI_Sendrecv_replace");
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Timed call;
  const std::uintptr_t handle = number_of(*request);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Wait(request, used));
  if (call.is_on()) waited(call, handle, *used);
  return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Timed call;
  const std::uintptr_t handle = number_of(*request);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Test(request, flag, used));
  if (!call.is_on()) return code;
  if (*flag != 0)
    waited(call, handle, *used);
  else
    call.skip();
  return code;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* given) {
  Timed call;
  const bool is_noted = call.is_on() && keep_handles(count, requests);
  if (!is_noted) return PMPI_Waitall(count, requests, given);
  MPI_Status* used = own_statuses(given);
  const int code = call.done(PMPI_Waitall(count, requests, used));
  for (int i = 0; i < count; ++i) waited(call, handles()[static_cast<std::size_t>(i)], used[i]);
  return code;
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* given) {
  Timed call;
  const bool is_noted = call.is_on() && keep_handles(count, requests);
  if (!is_noted) return PMPI_Testall(count, requests, flag, given);
  MPI_Status* used = own_statuses(given);
  const int code = call.done(PMPI_Testall(count, requests, flag, used));
  if (*flag == 0)
    call.skip();
  else
    for (int i = 0; i < count; ++i) waited(call, handles()[static_cast<std::size_t>(i)], used[i]);
  return code;
}

int MPI_Waitany(int count, MPI_Request* requests, int* place, MPI_Status* status) {
  Timed call;
  const bool is_noted = call.is_on() && keep_handles(count, requests);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Waitany(count, requests, place, used));
  if (is_noted && *place != MPI_UNDEFINED) waited(call, handles()[static_cast<std::size_t>(*place)], *used);
  return code;
}

int MPI_Testany(int count, MPI_Request* requests, int* place, int* flag, MPI_Status* status) {
  Timed call;
  const bool is_noted = call.is_on() && keep_handles(count, requests);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Testany(count, requests, place, flag, used));
  if (!is_noted) return code;
  if (*flag == 0)
    call.skip();
  else if (*place != MPI_UNDEFINED)
    waited(call, handles()[static_cast<std::size_t>(*place)], *used);
  return code;
}

#define FM_SOME(name)                                                                                       \
  int MPI_##name(int count, MPI_Request* requests, int* found, int* places, MPI_Status* given) {            \
    Timed call;                                                                                             \
    const bool is_noted = call.is_on() && keep_handles(count, requests);                                    \
    if (!is_noted) return PMPI_##name(count, requests, found, places, given);                               \
    MPI_Status* used = own_statuses(given);                                                                 \
    const int code = call.done(PMPI_##name(count, requests, found, places, used));                          \
    if (*found == MPI_UNDEFINED || *found == 0) {                                                           \
      call.skip();                                                                                          \
      return code;                                                                                          \
    }                                                                                                       \
    for (int i = 0; i < *found; ++i) waited(call, handles()[static_cast<std::size_t>(places[i])], used[i]); \
    return code;                                                                                            \
  }
FM_SOME(Waitsome)
FM_SOME(Testsome)

int MPI_Probe(int from, int tag, MPI_Comm over, MPI_Status* status) {
  Timed call;
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Probe(from, tag, over, used));
  const Communicator* found = known(call, over, "MPI_Probe");
  if (found != nullptr && from != MPI_PROC_NULL)
    call.note(receive_of(Call::kProbe, *found, from, tag, 0, used));
  return code;
}

int MPI_Iprobe(int from, int tag, MPI_Comm over, int* flag, MPI_Status* status) {
  Timed call;
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.done(PMPI_Iprobe(from, tag, over, flag, used));
  if (!call.is_on()) return code;
  // The receive that follows waits for it.
  call.skip();
  return code;
}

}  // extern "C"
#pragma GCC visibility pop
