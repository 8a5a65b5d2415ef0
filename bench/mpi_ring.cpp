// The peer of fm_b_eff over the transport cpu: MPI_Sendrecv to the right and to the left in a ring.
// Usage: mpirun -n N bench_mpi_ring REPETITIONS; prints for each size the least time of an exchange in both
// directions in microseconds, the slowest rank counting, as JSON. Places of messages are laid out as in
// fm_b_eff.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  constexpr std::size_t kRoom = std::size_t{4} << 20;
  constexpr std::size_t kMost = 500;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 10;
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  std::vector<char> out(2 * kRoom, 1);
  std::vector<char> in(2 * kRoom, 2);
  if (rank == 0) std::printf("{");
  for (std::size_t bytes = 1; bytes <= (std::size_t{1} << 20); bytes *= 2) {
    const std::size_t count = std::clamp<std::size_t>(kRoom / bytes, 1, kMost);
    double best = 1e9;
    for (int repetition = -1; repetition < repetitions; ++repetition) {
      // Messages are new and receive buffers are poisoned before each series, as in fm_b_eff: memory that
      // another core has just written is slower to read.
      for (const std::size_t direction : {std::size_t{0}, kRoom}) {
        std::memset(&out[direction], repetition, count * bytes);
        std::memset(&in[direction], 3, count * bytes);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      for (std::size_t place = 0; place < count; ++place) {
        const int length = static_cast<int>(bytes);
        const std::size_t at = place * bytes;
        MPI_Sendrecv(&out[at], length, MPI_BYTE, right, 0, &in[at], length, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&out[kRoom + at], length, MPI_BYTE, left, 1, &in[kRoom + at], length, MPI_BYTE, right, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      double seconds = (MPI_Wtime() - start) / static_cast<double>(count);
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (repetition >= 0) best = std::min(best, seconds);
    }
    if (rank == 0) std::printf("%s\"%zu\": %.6g", bytes == 1 ? "" : ", ", bytes, best * 1e6);
  }
  if (rank == 0) std::printf("}\n");
  MPI_Finalize();
  return 0;
}
