// The peer of fm_latency, fm_bw and fm_bibw: their loops in plain MPI between host memories, as the OSU
// Micro-Benchmarks 7 have them: each iteration is timed, windows are of 64 messages, a window is answered
// with 4 bytes. "latency BYTES ITERATIONS WARMUP", "bw ..." or "bibw ..."; prints microseconds or MB/s.
#include <mpi.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kWindow = 64;
constexpr int kTag = 100;
constexpr int kAnswerTag = 101;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Pages as the suite takes them: large ones where the system grants it.
char* pages(int bytes) {
  const std::size_t page = bytes >= static_cast<int>(kHugePage) ? kHugePage : kPage;
  const std::size_t size = (static_cast<std::size_t>(bytes) + page - 1) / page * page + page;
  char* const made = static_cast<char*>(std::aligned_alloc(page, size));
  if (page == kHugePage) madvise(made, size, MADV_HUGEPAGE);
  std::memset(made, 'a', size);
  return made;
}

struct Loop {
  int rank = 0;
  int bytes = 0;
  char* out = nullptr;
  char* in = nullptr;
  MPI_Request requests[2 * kWindow];

  void latency() {
    if (rank == 0) MPI_Send(out, bytes, MPI_CHAR, 1, kTag, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, bytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD);
  }
  void one_way() {
    for (int i = 0; i < kWindow; ++i) {
      if (rank == 0) MPI_Isend(out, bytes, MPI_CHAR, 1, kTag, MPI_COMM_WORLD, &requests[i]);
      if (rank == 1) MPI_Irecv(in, bytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(in, 4, MPI_CHAR, 1, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, 4, MPI_CHAR, 0, kAnswerTag, MPI_COMM_WORLD);
  }
  void both_ways() {
    for (int i = 0; i < kWindow; ++i)
      MPI_Irecv(in, bytes, MPI_CHAR, 1 - rank, kTag, MPI_COMM_WORLD, &requests[kWindow + i]);
    for (int i = 0; i < kWindow; ++i)
      MPI_Isend(out, bytes, MPI_CHAR, 1 - rank, kTag, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    MPI_Waitall(kWindow, requests + kWindow, MPI_STATUSES_IGNORE);
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "latency";
  Loop loop;
  MPI_Comm_rank(MPI_COMM_WORLD, &loop.rank);
  loop.bytes = argc > 2 ? std::atoi(argv[2]) : 1;
  const int iterations = argc > 3 ? std::atoi(argv[3]) : 10000;
  const int warmup = argc > 4 ? std::atoi(argv[4]) : 100;
  loop.out = pages(loop.bytes);
  loop.in = pages(loop.bytes);
  double total = 0;
  for (int i = 0; i < iterations + warmup; ++i) {
    if (i == warmup) MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (what == "latency") loop.latency();
    if (what == "bw") loop.one_way();
    if (what == "bibw") loop.both_ways();
    if (i >= warmup) total += MPI_Wtime() - start;
  }
  const double mean = total / iterations;
  const double messages = what == "bibw" ? 2.0 * kWindow : kWindow;
  if (loop.rank == 0)
    std::printf("%.6g\n", what == "latency" ? mean / 2 * 1e6 : loop.bytes * messages / mean * 1e-6);
  MPI_Finalize();
  return 0;
}
