// To be preloaded (LD_PRELOAD) into a rank of MPI: does one call wrong. FABRICMARK_FAULTY_MPI is
// KIND:NUMBER@RANK: drop (says that it has worked and does nothing), truncate (half of the bytes), delay
// (seconds of FABRICMARK_FAULTY_MPI_DELAY) or fail (returns an error), the call by its number from 1 among
// those that start a message or make a communicator. "count:0@RANK" writes at the end how many there were.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

namespace {

struct Wanted {
  Wanted() {
    const char* const text = std::getenv("FABRICMARK_FAULTY_MPI");
    if (text == nullptr || std::sscanf(text, "%15[a-z]:%ld@%ld", kind, &number, &rank) != 3) kind[0] = '\0';
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
      const char* const own = std::getenv(name);
      if (own != nullptr && std::strtol(own, nullptr, 10) != rank) kind[0] = '\0';
    }
  }
  char kind[16] = "";
  long number = 0;
  long rank = 0;
  long calls = 0;
};

Wanted& wanted() {
  static Wanted one;
  return one;
}

/// The letter of what goes wrong in this call; 0: nothing.
char next_call() {
  Wanted& fault = wanted();
  if (++fault.calls != fault.number) return 0;
  if (fault.kind[0] == 'd' && fault.kind[1] == 'e') {
    const char* const delay = std::getenv("FABRICMARK_FAULTY_MPI_DELAY");
    std::this_thread::sleep_for(
        std::chrono::duration<double>(delay == nullptr ? 1 : std::strtod(delay, nullptr)));
    return 0;
  }
  return fault.kind[0];
}

/// What a call returns that is dropped or fails; absent where it is made.
std::optional<int> instead(char fault, MPI_Request* request) {
  if (fault == 'f') return MPI_ERR_OTHER;
  if (fault != 'd') return std::nullopt;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  const char fault = next_call();
  if (const auto code = instead(fault, request)) return *code;
  return PMPI_Isend(data, fault == 't' ? count / 2 : count, type, to, tag, communicator, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  const char fault = next_call();
  if (const auto code = instead(fault, request)) return *code;
  return PMPI_Irecv(data, fault == 't' ? count / 2 : count, type, from, tag, communicator, request);
}

int MPI_Comm_idup(MPI_Comm communicator, MPI_Comm* copy, MPI_Request* request) {
  if (const auto code = instead(next_call(), request)) return *code;
  return PMPI_Comm_idup(communicator, copy, request);
}

int MPI_Finalize() {
  if (wanted().kind[0] == 'c') std::fprintf(stderr, "calls: %ld\n", wanted().calls);
  return PMPI_Finalize();
}
}
