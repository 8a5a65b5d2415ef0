#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "benchmarks/host_transfer/cases.hpp"

namespace fabricmark::host_transfer {

/// What transfers can reach: a given link, or where none is given the host's own copies of the same size.
class Rates {
 public:
  /// `link_bytes_per_second` each way; 0: none is given.
  explicit Rates(double link_bytes_per_second) : link_bytes_per_second_(link_bytes_per_second) {}

  /// Measures the host's copies of these sizes, where they count.
  void measure(const std::vector<std::size_t>& sizes);
  /// The most bytes per second of a transfer. Of the host's copies measured again where `rate` is more than
  /// `threshold` times as much: other work on the machine may have held it up before.
  double limit(const Case& one, double rate, double threshold);

 private:
  double link_bytes_per_second_;
  std::map<std::size_t, double> host_;  ///< [bytes]
};

}  // namespace fabricmark::host_transfer
