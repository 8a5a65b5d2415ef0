// To be preloaded (LD_PRELOAD) into a rank of MPI: a library that corrupts messages of bytes between ranks,
// which are those of the suite's own. FABRICMARK_CORRUPTED_MESSAGES is KIND FROM TO RANK LEAST: what happens
// to messages FROM to TO of the rank, counted from 1, of at least so many bytes:
//   flip   one bit of the last byte is another
//   first  one bit of the first byte is
//   zero   all bytes are
//   halves its halves change places
//   stale  it is the message before of as many bytes
//   older  it is the one before that
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<char>;

struct State {
  State() {
    if (const char* const text = std::getenv("FABRICMARK_CORRUPTED_MESSAGES")) {
      std::istringstream words(text);
      words >> kind >> from >> to >> rank >> least;
    }
  }
  std::string kind;
  long from = 0;
  long to = 0;
  int rank = 0;
  long least = 0;
  long sent = 0;
  long changed = 0;
  std::map<long, std::vector<Bytes>> last;  // by their bytes, the newest at the end
};

State& state() {
  static State* const one = new State;  // outlives all that runs at the end
  return *one;
}

void corrupt(Bytes& bytes) {
  State& own = state();
  const std::vector<Bytes>& last = own.last[static_cast<long>(bytes.size())];
  if (own.kind == "flip") bytes.back() = static_cast<char>(bytes.back() ^ 1);
  if (own.kind == "first") bytes.front() = static_cast<char>(bytes.front() ^ 1);
  if (own.kind == "zero") std::fill(bytes.begin(), bytes.end(), '\0');
  if (own.kind == "halves")
    std::swap_ranges(bytes.begin(), bytes.begin() + bytes.size() / 2, bytes.end() - bytes.size() / 2);
  if (own.kind == "stale" && !last.empty()) bytes = last.back();
  if (own.kind == "older" && last.size() > 1) bytes = last[last.size() - 2];
}

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
                         MPI_Request* request) {
  State& own = state();
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != own.rank || type != MPI_BYTE || count < own.least || own.kind.empty())
    return PMPI_Isend(data, count, type, to, tag, ranks, request);
  ++own.sent;
  const char* const bytes = static_cast<const char*>(data);
  const Bytes given(bytes, bytes + count);
  auto* const kept = new Bytes(given);  // until it has arrived, which nobody says
  if (own.sent >= own.from && own.sent <= own.to) corrupt(*kept);
  if (*kept != given) std::fprintf(stderr, "corrupted messages: %ld\n", ++own.changed);
  std::vector<Bytes>& last = own.last[count];
  last.push_back(given);
  if (last.size() > 2) last.erase(last.begin());
  return PMPI_Isend(kept->data(), count, type, to, tag, ranks, request);
}
