// A program of somebody else, for what records calls: each kind of call a known number of times, on two ranks
// or more.
#include <mpi.h>

#include <array>
#include <vector>

namespace {

constexpr int kTag = 5;
constexpr int kCount = 10;
using Values = std::array<double, kCount>;

/// The last ranks' messages come from anybody, by any tag.
void from_anybody(int rank, int ranks) {
  Values values{};
  if (rank != 0) {
    MPI_Send(values.data(), kCount, MPI_DOUBLE, 0, kTag + rank, MPI_COMM_WORLD);
    MPI_Send(values.data(), 1, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < ranks; ++i) {
    MPI_Request request{};
    MPI_Status status;
    MPI_Probe(i, kTag + i, MPI_COMM_WORLD, &status);
    MPI_Irecv(values.data(), kCount, MPI_DOUBLE, MPI_ANY_SOURCE, kTag + i, MPI_COMM_WORLD, &request);
    int is_done = 0;
    while (is_done == 0) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    MPI_Recv(values.data(), kCount, MPI_DOUBLE, i, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// With both neighbours on a circle, by calls of each kind.
void on_a_circle(int rank, int ranks) {
  Values own{};
  Values other{};
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  for (int turn = 0; turn < 7; ++turn) {
    MPI_Sendrecv(own.data(), kCount, MPI_DOUBLE, next, 1, other.data(), kCount, MPI_DOUBLE, before, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(own.data(), 2, MPI_DOUBLE, next, 2, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  std::array<MPI_Request, 2> requests{};
  MPI_Send_init(own.data(), kCount, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, requests.data());
  MPI_Recv_init(other.data(), kCount, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, &requests[1]);
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  for (MPI_Request& one : requests) MPI_Request_free(&one);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Irecv(other.data(), kCount, MPI_DOUBLE, before, 4, MPI_COMM_WORLD, requests.data());
    MPI_Isend(own.data(), kCount, MPI_DOUBLE, next, 4, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; ++i) {
      int place = 0;
      MPI_Waitany(2, requests.data(), &place, MPI_STATUS_IGNORE);
    }
    MPI_Send(own.data(), 1, MPI_DOUBLE, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
  }
}

void together(int rank, MPI_Comm over) {
  int ranks = 1;
  MPI_Comm_size(over, &ranks);
  MPI_Comm_rank(over, &rank);
  std::vector<double> own(static_cast<std::size_t>(ranks) * kCount);
  std::vector<double> all(own.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  std::vector<int> places(counts.size());
  for (int i = 0; i < ranks; ++i) {
    counts[static_cast<std::size_t>(i)] = i + 1;
    places[static_cast<std::size_t>(i)] = i * kCount;
  }
  MPI_Barrier(over);
  MPI_Bcast(own.data(), kCount, MPI_DOUBLE, ranks - 1, over);
  MPI_Reduce(own.data(), all.data(), kCount, MPI_DOUBLE, MPI_SUM, 0, over);
  MPI_Allreduce(MPI_IN_PLACE, all.data(), kCount, MPI_DOUBLE, MPI_SUM, over);
  MPI_Scan(own.data(), all.data(), kCount, MPI_DOUBLE, MPI_SUM, over);
  MPI_Gather(own.data(), kCount, MPI_DOUBLE, all.data(), kCount, MPI_DOUBLE, 0, over);
  MPI_Gatherv(own.data(), rank + 1, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE, 0,
              over);
  MPI_Scatter(all.data(), kCount, MPI_DOUBLE, own.data(), kCount, MPI_DOUBLE, 0, over);
  MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_DOUBLE, own.data(), rank + 1, MPI_DOUBLE, 0,
               over);
  MPI_Allgather(own.data(), kCount, MPI_DOUBLE, all.data(), kCount, MPI_DOUBLE, over);
  MPI_Allgatherv(own.data(), rank + 1, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE,
                 over);
  MPI_Alltoall(own.data(), kCount, MPI_DOUBLE, all.data(), kCount, MPI_DOUBLE, over);
  std::vector<int> own_counts(counts.size(), rank + 1);
  MPI_Alltoallv(own.data(), own_counts.data(), places.data(), MPI_DOUBLE, all.data(), counts.data(),
                places.data(), MPI_DOUBLE, over);
  MPI_Reduce_scatter(own.data(), all.data(), counts.data(), MPI_DOUBLE, MPI_SUM, over);
  MPI_Reduce_scatter_block(own.data(), all.data(), kCount, MPI_DOUBLE, MPI_SUM, over);
}

void unmodelled() {
  double value = 0;
  MPI_Win window{};
  MPI_Win_create(&value, sizeof(value), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Request request{};
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  from_anybody(rank, ranks);
  on_a_circle(rank, ranks);
  together(rank, MPI_COMM_WORLD);
  MPI_Comm half{};
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  together(rank, half);
  MPI_Comm_free(&half);
  MPI_Comm copy{};
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  unmodelled();
  MPI_Finalize();
  return 0;
}
