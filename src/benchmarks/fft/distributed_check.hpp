#pragma once

#include <vector>

#include "benchmarks/fft/check.hpp"

namespace fabricmark::fft {

/// One vector of 2^log_size points, of which this rank has the part from `first` on: every rank transforms
/// the whole input by itself, so that no check depends on another rank's word.
template <typename T, typename Input>
std::vector<runtime::Verdict> check_distributed(References& references, Input&& input,
                                                std::span<const std::complex<T>> part, std::size_t first,
                                                std::size_t log_size, Direction direction) {
  const int threads = references.threads().of_each;
  std::unique_ptr<Reference> reference = references.take();
  const double rms = transform_in(*reference, input, direction, threads);
  Comparison<T> comparison(log_size, direction);
  add_parts<T>(comparison, part, reference->points().subspan(first, part.size()), rms, first, 0, threads);
  references.give(std::move(reference));
  return comparison.verdicts();
}

}  // namespace fabricmark::fft
