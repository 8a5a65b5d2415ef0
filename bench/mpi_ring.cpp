// The peer of fm_b_eff over the transport cpu: MPI_Sendrecv to the right and to the left in a ring.
// Usage: mpirun -n N bench_mpi_ring REPETITIONS; prints for each size the least time of an exchange in both
// directions in microseconds, the slowest rank counting, as JSON.
//
// Messages lie, and are written and compared outside of the timing, as in fm_b_eff, so that only the way of
// exchanging them differs. The writing matters: memory that memset has filled (rep stosb) is read by the
// other core in three quarters of the time that it takes to read what ordinary stores have left in a cache.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "benchmarks/b_eff/content.hpp"

namespace {

using fabricmark::b_eff::Content;

constexpr std::size_t kRoom = std::size_t{4} << 20;
constexpr std::size_t kMost = 500;

class Ring {
 public:
  Ring() : out_(2 * kRoom), in_(2 * kRoom) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  [[nodiscard]] int rank() const { return rank_; }

  /// Seconds of one exchange of messages of `bytes`. Ends the program when one arrives wrong.
  double seconds(std::size_t bytes, std::uint32_t repetition) {
    const std::size_t count = std::clamp<std::size_t>(kRoom / bytes, 1, kMost);
    for (std::uint32_t direction = 0; direction < 2; ++direction) {
      for (std::size_t place = 0; place < count; ++place) {
        fabricmark::b_eff::fill(part(out_, direction, place, bytes),
                                content(rank_, direction, repetition, place, bytes));
      }
      std::fill_n(&in_[direction * kRoom], count * bytes, fabricmark::b_eff::kPoison);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (std::size_t place = 0; place < count; ++place) {
      for (std::uint32_t direction = 0; direction < 2; ++direction) {
        MPI_Sendrecv(part(out_, direction, place, bytes).data(), static_cast<int>(bytes), MPI_BYTE,
                     neighbour(direction), 0, part(in_, direction, place, bytes).data(),
                     static_cast<int>(bytes), MPI_BYTE, neighbour(1 - direction), 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
      }
    }
    double seconds = (MPI_Wtime() - start) / static_cast<double>(count);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    check(bytes, count, repetition);
    return seconds;
  }

 private:
  static std::span<std::byte> part(std::vector<std::byte>& room, std::uint32_t direction, std::size_t place,
                                   std::size_t bytes) {
    return {&room[direction * kRoom + place * bytes], bytes};
  }
  static Content content(int sender, std::uint32_t direction, std::uint32_t repetition, std::size_t place,
                         std::size_t bytes) {
    return {static_cast<std::uint32_t>(sender), direction, repetition, static_cast<std::uint32_t>(place),
            static_cast<std::uint32_t>(bytes)};
  }
  [[nodiscard]] int neighbour(std::uint32_t direction) const {
    return (rank_ + (direction == 0 ? 1 : size_ - 1)) % size_;
  }
  void check(std::size_t bytes, std::size_t count, std::uint32_t repetition) {
    std::size_t wrong = 0;
    for (std::uint32_t direction = 0; direction < 2; ++direction) {
      for (std::size_t place = 0; place < count; ++place) {
        const int sender = neighbour(1 - direction);
        fabricmark::b_eff::compare(part(in_, direction, place, bytes),
                                   content(sender, direction, repetition, place, bytes), wrong);
      }
    }
    if (wrong > 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }

  int rank_ = 0;
  int size_ = 1;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto repetitions = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 10);
  Ring ring;
  std::map<std::size_t, double> best;
  for (std::uint32_t repetition = 0; repetition <= repetitions; ++repetition) {
    for (std::size_t bytes = 1; bytes <= (std::size_t{1} << 20); bytes *= 2) {
      const double seconds = ring.seconds(bytes, repetition);
      const auto [place, is_first] = best.try_emplace(bytes, seconds);
      // The first repetition only warms up.
      if (!is_first) place->second = repetition == 1 ? seconds : std::min(place->second, seconds);
    }
  }
  if (ring.rank() == 0) {
    std::printf("{");
    for (const auto& [bytes, seconds] : best) {
      std::printf("%s\"%zu\": %.6g", bytes == 1 ? "" : ", ", bytes, seconds * 1e6);
    }
    std::printf("}\n");
  }
  MPI_Finalize();
  return 0;
}
