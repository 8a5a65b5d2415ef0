#pragma once

#include <vector>

namespace fabricmark {

/// Of a series of values, in their unit; all zero for an empty series.
struct Statistics {
  double minimum = 0;
  double maximum = 0;
  double median = 0;
  double mean = 0;
  double standard_deviation = 0;  ///< of the sample (n - 1); zero for fewer than two values
};

Statistics statistics(std::vector<double> values);

/// The slowest rank of each repetition: [rank][repetition] seconds -> [repetition] seconds.
std::vector<double> slowest(const std::vector<std::vector<double>>& per_rank);

}  // namespace fabricmark
