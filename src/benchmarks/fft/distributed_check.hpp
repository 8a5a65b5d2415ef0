#pragma once

#include <vector>

#include "benchmarks/fft/check.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::fft {

/// One vector of 2^log_size points, of which this rank has the part of its number: every rank transforms the
/// whole input by itself, so that no check depends on another rank's word.
template <typename T>
std::vector<runtime::Verdict> check_distributed(const runtime::Communicator& ranks,
                                                std::span<const std::complex<T>> part, std::size_t log_size,
                                                Direction direction, int repetition) {
  const std::size_t points = std::size_t{1} << log_size;
  const int threads = runtime::host_threads(ranks);
  Reference reference(points, direction, threads);
  const std::uint64_t seed = input_seed(repetition, direction);
  parallel_for(points, threads, kWorthAThread, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      reference.points()[i] = static_cast<std::complex<double>>(input_point<T>(seed, i));
    }
  });
  reference.transform();
  Comparison<T> comparison(log_size, direction);
  const std::size_t first = static_cast<std::size_t>(ranks.rank()) * part.size();
  add_parts<T>(comparison, part, reference.points().subspan(first, part.size()),
               root_mean_square(reference.points(), threads), first, 0, threads);
  return comparison.verdicts();
}

}  // namespace fabricmark::fft
