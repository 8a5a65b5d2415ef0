// A program of somebody else, for what records calls: Jacobi's method on n x n cells, whose rows the ranks
// share. `jacobi N STEPS`; it prints the seconds that the steps took, and the residual.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// Of the rows that lie between two others; returns the sum of squared changes.
double relax(const std::vector<double>& old, std::vector<double>& next, int rows, int n) {
  double change = 0;
  for (int row = 1; row <= rows; ++row) {
    const double* own = &old[static_cast<std::size_t>(row) * n];
    double* result = &next[static_cast<std::size_t>(row) * n];
    for (int i = 1; i < n - 1; ++i) {
      result[i] = 0.25 * (own[i - 1] + own[i + 1] + own[i - n] + own[i + n]);
      change += (result[i] - own[i]) * (result[i] - own[i]);
    }
  }
  return change;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? std::atoi(argv[1]) : 512;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rows = n / ranks;
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  std::vector<double> old(static_cast<std::size_t>(rows + 2) * n, 0.0);
  std::fill(old.begin(), old.begin() + n, rank == 0 ? 1.0 : 0.0);
  std::vector<double> next = old;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double residual = 0;
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[4];
    const auto row = [&](int place) { return &old[static_cast<std::size_t>(place) * n]; };
    MPI_Irecv(row(0), n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(row(rows + 1), n, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(row(rows), n, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(row(1), n, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    const double own = relax(old, next, rows, n);
    if (step % 10 == 9) MPI_Allreduce(&own, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    std::swap(old, next);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("%.6f s, residual %g\n", MPI_Wtime() - start, std::sqrt(residual));
  MPI_Finalize();
  return 0;
}
