#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fabricmark {

Statistics statistics(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t count = values.size();
  Statistics result;
  result.minimum = values.front();
  result.maximum = values.back();
  result.median = count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count);
  if (count > 1) {
    double squares = 0;
    for (const double value : values) squares += (value - result.mean) * (value - result.mean);
    result.standard_deviation = std::sqrt(squares / static_cast<double>(count - 1));
  }
  return result;
}

std::vector<double> slowest(const std::vector<std::vector<double>>& per_rank) {
  std::vector<double> result;
  for (const std::vector<double>& seconds : per_rank) {
    if (seconds.size() > result.size()) result.resize(seconds.size(), 0);
    for (std::size_t i = 0; i < seconds.size(); ++i) result[i] = std::max(result[i], seconds[i]);
  }
  return result;
}

}  // namespace fabricmark
